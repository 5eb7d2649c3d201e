// SPDX-License-Identifier: Apache-2.0
#include "noise/carry_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "noise/coin.h"
#include "noise/release_step.h"
#include "noise/secret.h"
#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

constexpr double largest_value = 0x1p50;  // in steps: decimals are then read to within an eighth of a step

std::string text_of(double value) { return std::isfinite(value) ? numeric::to_text_below(value) : std::to_string(value); }

/// Converts values to steps of the grid of one instruction. [grid-release]
class ValueReader {
 public:
  ValueReader(const Instruction& instruction, const ReleaseTerms& terms)
      : grid_exponent_(instruction.noise.grid_exponent),
        choices_(describe(instruction.noise).choices),
        on_grid_(instruction.noise.integers || terms.inputs == Inputs::on_grid),
        terms_(terms) {
    if (!terms.bounds) return;
    lowest_ = std::ceil(std::ldexp(terms.bounds->low, -grid_exponent_));
    highest_ = std::floor(std::ldexp(terms.bounds->high, -grid_exponent_));
  }

  [[nodiscard]] std::int64_t read(double value, std::size_t index) const {
    if (!std::isfinite(value)) refuse(value, index, "not a finite number");
    check_bounds(value, index);
    if (terms_.clip) value = std::min(std::max(value, terms_.bounds->low), terms_.bounds->high);
    double scaled = std::ldexp(value, -grid_exponent_);
    if (!(std::abs(scaled) <= largest_value)) refuse(value, index, "too large for the grid; at most 2^50 steps are supported");
    if (terms_.clip) scaled = std::min(std::max(scaled, lowest_), highest_);  // the bounds need not be multiples of the step
    const double nearest = std::round(scaled);
    if (on_grid_ && nearest != scaled)
      refuse(value, index, "not on the grid; it must be a multiple of 2^" + std::to_string(grid_exponent_));
    if (choices_ != 0 && !(nearest >= 0 && nearest < static_cast<double>(choices_)))
      refuse(value, index, "not one of the choices 0.." + std::to_string(choices_ - 1));
    return static_cast<std::int64_t>(terms_.bounds ? std::min(std::max(nearest, lowest_), highest_) : nearest);
  }

  void check_bounds(double value, std::size_t index) const {
    if (!std::isfinite(value)) refuse(value, index, "not a finite number");
    if (!terms_.bounds || terms_.clip || (value >= terms_.bounds->low && value <= terms_.bounds->high)) return;
    refuse(value, index,
           "out of the declared bounds; it must be between " + text_of(terms_.bounds->low) + " and " + text_of(terms_.bounds->high) +
               ", or be clipped to them");
  }

 private:
  [[noreturn]] static void refuse(double value, std::size_t index, const std::string& why) {
    throw DomainError("release: value " + std::to_string(index + 1) + " = " + text_of(value) + " is " + why + "; nothing was released");
  }

  int grid_exponent_;
  std::uint64_t choices_;
  bool on_grid_;
  const ReleaseTerms& terms_;
  double lowest_ = 0, highest_ = 0;  // grid points within the bounds
};

/// The values, in steps, to which the noise of an instruction is added: one per draw; for a sum, one per record.
using Steps = SecretVector<std::int64_t>;

[[noreturn]] void refuse_large(const char* what) {
  throw DomainError(std::string("release: the ") + what +
                    " is too large for the grid; at most 2^50 steps are supported; nothing was released");
}

Steps read_rows(const Instruction& instruction, const ReleaseTerms& terms, std::span<const double> values) {
  const ValueReader reader(instruction, terms);
  Steps steps;
  const std::size_t first = instruction.first_row * terms.columns, count = instruction.rows * terms.columns;
  steps.reserve(count);
  for (std::size_t i = first; i < first + count; ++i) steps.push_back(reader.read(values[i], i));
  return steps;
}

/// Checks every record, whether or not it is sampled, and that no possible sum is too large.
Steps read_records(const Instruction& instruction, const ReleaseTerms& terms, std::span<const double> records) {
  const ValueReader reader(instruction, terms);
  if (instruction.sampling && instruction.sampling->denominator == 0 && instruction.sampling->of != records.size())
    throw DomainError("release: the plan samples from " + std::to_string(instruction.sampling->of) + " records, but " +
                      std::to_string(records.size()) + " were given; nothing was released");
  Steps steps;
  if (instruction.quantity == Quantity::count) {
    const double one = std::ldexp(1.0, -instruction.noise.grid_exponent);
    if (!(one * static_cast<double>(records.size()) <= largest_value)) refuse_large("count");
    for (std::size_t i = 0; i < records.size(); ++i) reader.check_bounds(records[i], i);
    return Steps(records.size(), static_cast<std::int64_t>(one));
  }
  // A record is at most 2^50 and there are at most 2^30 of them; the sums in double are exact up to the limit.
  double above = 0, below = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    steps.push_back(reader.read(records[i], i));
    (steps.back() > 0 ? above : below) += static_cast<double>(steps.back());
  }
  if (!(above <= largest_value && below >= -largest_value)) refuse_large("sum");
  return steps;
}

/// The noise of one instruction: for all its values, and a second draw for rectification.
struct Pool {
  Steps noise;
  Steps rectifying;
};

Pool draw_pool(const Instruction& instruction, std::size_t count, NoiseSource& source) {
  Pool pool{Steps(count), {}};
  source.draw(*instruction.noise.sampler, pool.noise);
  if (instruction.rectification) {
    pool.rectifying.resize(count);
    source.draw(instruction.rectification->noise, pool.rectifying);
  }
  return pool;
}

/// The sum over the sampled records; a count is a sum of ones.
Steps sum_of(const Instruction& instruction, const Steps& records, NoiseSource& source) {
  std::int64_t sum = 0;
  if (!instruction.sampling) return {std::accumulate(records.begin(), records.end(), std::int64_t{0})};
  for (const std::uint64_t i : source.choose(*instruction.sampling, records.size())) sum += records[i];
  return {sum};
}

/// Adds the drawn noise to values in steps. [grid-release]
std::vector<double> finish(const Instruction& instruction, const Pool& pool, Steps steps) {
  bool fits = add_noise(steps, pool.noise, steps);
  if (const auto choices = static_cast<std::int64_t>(describe(instruction.noise).choices); choices != 0)
    for (std::int64_t& step : steps)  // modulo the number of choices, without a division whose time depends on the value
      step -= choices & -static_cast<std::int64_t>(step >= choices);
  if (const auto& rectification = instruction.rectification) {
    for (std::int64_t& step : steps) step = std::min(std::max(step, rectification->low), rectification->high);
    fits = add_noise(steps, pool.rectifying, steps) && fits;
  }
  if (!fits) throw DomainError("release: a noisy value is too large for the grid; nothing was released");
  std::vector<double> values;
  values.reserve(steps.size());
  for (const std::int64_t step : steps) values.push_back(std::ldexp(static_cast<double>(step), instruction.noise.grid_exponent));
  return values;
}

}  // namespace

void WordSource::draw(const Sampler& sampler, std::span<std::int64_t> noise) { sampler.draw(words_, noise); }

std::vector<std::uint64_t> WordSource::choose(const Sampling& sampling, std::uint64_t population) {
  if (sampling.denominator == 0) return fixed_subset(sampling.size, population, words_);
  return bernoulli_subset(Coin::rational(sampling.numerator, sampling.denominator), population, words_);
}

std::vector<std::vector<double>> carry_out(const std::vector<Instruction>& instructions, const ReleaseTerms& terms,
                                           std::span<const double> values, NoiseSource& source) {
  const bool of_records = terms.aggregate != Aggregate::none;
  if (!of_records && values.size() != terms.rows * terms.columns)
    throw DomainError("release: the certificate is for " + std::to_string(terms.rows) + " rows of " + std::to_string(terms.columns) +
                      " values, but " + std::to_string(values.size()) + " values were given; nothing was released");
  std::vector<Steps> inputs;
  for (const Instruction& instruction : instructions)
    inputs.push_back(of_records ? read_records(instruction, terms, values) : read_rows(instruction, terms, values));
  std::vector<Pool> pools;
  for (const Instruction& instruction : instructions) pools.push_back(draw_pool(instruction, instruction.rows * terms.columns, source));

  std::vector<std::vector<double>> released;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    Steps exact = of_records ? sum_of(instructions[i], inputs[i], source) : std::move(inputs[i]);
    const std::vector<double> noisy = finish(instructions[i], pools[i], std::move(exact));
    for (std::size_t at = 0; at < noisy.size(); at += terms.columns)
      released.emplace_back(noisy.begin() + static_cast<std::ptrdiff_t>(at),
                            noisy.begin() + static_cast<std::ptrdiff_t>(at + terms.columns));
  }
  return released;
}

}  // namespace tradeoff::detail::noise
