// SPDX-License-Identifier: Apache-2.0
#include "noise/clipped_sum.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "noise/natural.h"
#include "noise/processor.h"
#include "numeric/lanes.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

using numeric::Lanes;
using Floats = float __attribute__((vector_size(numeric::lane_count * sizeof(float))));
using Integers = std::int32_t __attribute__((vector_size(numeric::lane_count * sizeof(std::int32_t))));

constexpr std::size_t clip_lanes = numeric::lane_count;
constexpr std::size_t columns_in_sum = 2048;  // columns at a time: their sums stay in the first-level cache
constexpr std::size_t rows_in_sum = 512;      // sums of so many entries of at most 2^21 fit 32 bits
constexpr std::size_t least_work = 1 << 17;   // values below which a thread costs more than it saves
static_assert(columns_in_sum * (largest_clip_bound * largest_clip_bound) <= std::uint64_t{1} << 53,
              "the squares of so many columns are summed exactly");
static_assert(rows_in_sum * largest_clip_bound <= std::uint64_t{1} << 30);

TRADEOFF_INLINE double lane_sum(const Lanes& values) {
  double sum = 0;
  for (std::size_t k = 0; k < clip_lanes; ++k) sum += values[k];
  return sum;
}

/// The sum of squares of a row, rounded; the order depends on the number of columns only.
TRADEOFF_CLONES double rounded_square(const float* values, std::size_t columns) {
  Lanes first{}, second{};
  std::size_t i = 0;
  for (; i + 2 * clip_lanes <= columns; i += 2 * clip_lanes) {
    Floats one, two;
    std::memcpy(&one, values + i, sizeof one);
    std::memcpy(&two, values + i + clip_lanes, sizeof two);
    const Lanes a = __builtin_convertvector(one, Lanes), b = __builtin_convertvector(two, Lanes);
    first += a * a;
    second += b * b;
  }
  double sum = lane_sum(first + second);
  for (; i < columns; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

/// Adds the integers of some columns of a row, at most columns_in_sum, and returns the exact sum of their squares.
TRADEOFF_CLONES double add_integers(const float* values, std::size_t columns, float scale, std::int32_t* sums) {
  constexpr auto most = static_cast<float>(largest_clip_bound);
  const Floats above = Floats{} + most, below = Floats{} - most;
  Lanes squares{};
  std::size_t i = 0;
  for (; i + clip_lanes <= columns; i += clip_lanes) {
    Floats scaled;
    std::memcpy(&scaled, values + i, sizeof scaled);
    scaled *= scale;
    scaled = scaled > above ? above : scaled;
    scaled = scaled < below ? below : scaled;
    const Integers whole = __builtin_convertvector(scaled, Integers);  // truncates
    Integers sum;
    std::memcpy(&sum, sums + i, sizeof sum);
    sum += whole;
    std::memcpy(sums + i, &sum, sizeof sum);
    const Lanes wide = __builtin_convertvector(whole, Lanes);
    squares += wide * wide;
  }
  double sum = lane_sum(squares);
  for (; i < columns; ++i) {
    const auto whole = static_cast<std::int32_t>(std::clamp(values[i] * scale, -most, most));
    sums[i] += whole;
    sum += static_cast<double>(whole) * whole;
  }
  return sum;
}

/// Calls work(task, worker) for every task, on several threads.
template <class Work>
void share(std::size_t tasks, std::size_t workers, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&](std::size_t worker) {
    for (std::size_t task = next++; task < tasks; task = next++) work(task, worker);
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t worker = 1; worker < workers; ++worker) others.emplace_back(run, worker);
  } catch (const std::system_error&) {  // no more threads: those that run do all of it
  }
  run(0);
  for (std::thread& one : others) one.join();
}

/// Some columns of a parameter.
struct Part {
  const GradientRows* parameter;
  std::size_t from, to;
};

std::vector<Part> parts_of(std::span<const GradientRows> parameters) {
  std::vector<Part> parts;
  for (const GradientRows& one : parameters)
    for (std::size_t from = 0; from < one.columns; from += columns_in_sum)
      parts.push_back({&one, from, std::min(one.columns, from + columns_in_sum)});
  return parts;
}

class Step {
 public:
  Step(std::span<const GradientRows> parameters, std::span<const std::uint8_t> mask, unsigned threads)
      : parameters_(parameters), mask_(mask), parts_(parts_of(parameters)), scales_(mask.size(), 0.F) {
    std::size_t columns = 0;
    for (const GradientRows& one : parameters) columns += one.columns;
    workers_ = std::clamp<std::size_t>(columns * mask.size() / least_work, 1, std::max(1U, threads));
    squares_.assign(workers_, std::vector<Wide>(mask.size()));
  }

  /// The factor of each example: 0 for padding, and for gradients that are not finite.
  void find_scales(double step, double limit, ClippedRows& counts) {
    std::vector<double> norms(mask_.size());
    share(mask_.size(), workers_, [&](std::size_t row, std::size_t) {
      if (mask_[row] == 0) return;
      double square = 0;
      for (const GradientRows& one : parameters_) square += rounded_square(one.values + row * one.columns, one.columns);
      norms[row] = std::sqrt(square) / step;
    });
    for (std::size_t row = 0; row < mask_.size(); ++row) {
      if (mask_[row] == 0) continue;
      const bool is_finite = std::isfinite(norms[row]), is_long = norms[row] > limit;
      counts.clipped += is_long ? 1 : 0;
      counts.zeroed += is_finite ? 0 : 1;
      if (is_finite) scales_[row] = static_cast<float>((is_long ? limit / norms[row] : 1) / step);
    }
  }

  void add() {
    for (std::size_t from = 0; from < mask_.size(); from += rows_in_sum) {
      const std::size_t to = std::min(mask_.size(), from + rows_in_sum);
      share(parts_.size(), workers_, [&](std::size_t part, std::size_t worker) { add_part(parts_[part], from, to, squares_[worker]); });
    }
  }

  /// The check that the guarantee depends on [torch-step]. What an example added beyond the bound is taken back; integers allow that
  /// exactly.
  void take_back(std::uint64_t bound, ClippedRows& counts) {
    for (std::size_t row = 0; row < mask_.size(); ++row) {
      Wide square = 0;
      for (const std::vector<Wide>& one : squares_) square += one[row];
      if (square <= static_cast<Wide>(bound) * bound) continue;
      ++counts.zeroed;
      for (const Part& part : parts_) {
        std::array<std::int32_t, columns_in_sum> whole{};
        static_cast<void>(add_integers(part.parameter->values + row * part.parameter->columns + part.from, part.to - part.from,
                                       scales_[row], whole.data()));
        for (std::size_t i = part.from; i < part.to; ++i) part.parameter->sums[i] -= whole[i - part.from];
      }
    }
  }

 private:
  void add_part(const Part& part, std::size_t from, std::size_t to, std::vector<Wide>& squares) const {
    std::array<std::int32_t, columns_in_sum> sums{};
    for (std::size_t row = from; row < to; ++row) {
      if (scales_[row] == 0) continue;
      const float* values = part.parameter->values + row * part.parameter->columns + part.from;
      squares[row] += static_cast<std::uint64_t>(add_integers(values, part.to - part.from, scales_[row], sums.data()));
    }
    for (std::size_t i = part.from; i < part.to; ++i) part.parameter->sums[i] += sums[i - part.from];
  }

  std::span<const GradientRows> parameters_;
  std::span<const std::uint8_t> mask_;
  std::vector<Part> parts_;
  std::vector<float> scales_;
  std::size_t workers_ = 1;
  std::vector<std::vector<Wide>> squares_;  // of each example, by each worker: exact
};

}  // namespace

ClippedRows add_clipped_rows(std::span<const GradientRows> parameters, std::span<const std::uint8_t> mask, double step, std::uint64_t bound,
                             unsigned threads, double aim) {
  if (bound < 1 || bound > largest_clip_bound)
    throw DomainError("clip: a bound of " + std::to_string(bound) + " steps is not allowed; it must be between 1 and 2097152");
  int exponent = 0;
  if (!(step >= 0x1p-60 && step <= 0x1p60) || std::frexp(step, &exponent) != 0.5)
    throw DomainError("clip: the step of the grid must be a power of two between 2^-60 and 2^60");
  ClippedRows counts;
  Step work(parameters, mask, threads);
  work.find_scales(step, static_cast<double>(bound) * aim, counts);
  work.add();
  work.take_back(bound, counts);
  return counts;
}

}  // namespace tradeoff::detail::noise
