// SPDX-License-Identifier: Apache-2.0
#include "train/step.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "noise/natural.h"
#include "noise/release_step.h"
#include "tradeoff/error.h"
#include "train/outer_products.h"

namespace tradeoff::detail::train {
namespace {

using noise::Wide;

constexpr std::int64_t largest_delta = 32767;

/// Activations and deltas of one example at one layer.
struct Slice {
  const std::int16_t* inputs;
  const float* deltas;
  std::size_t positions, columns, outputs;

  Slice(const Factors& factors, std::size_t example)
      : inputs(factors.inputs.data() + example * factors.positions * static_cast<std::size_t>(factors.inputs.cols())),
        deltas(factors.deltas.data() + example * factors.positions * static_cast<std::size_t>(factors.deltas.cols())),
        positions(factors.positions),
        columns(static_cast<std::size_t>(factors.inputs.cols())),
        outputs(static_cast<std::size_t>(factors.deltas.cols())) {}
};

std::size_t examples_in(const std::vector<Factors>& factors) {
  return static_cast<std::size_t>(factors.front().deltas.rows()) / factors.front().positions;
}

template <class Sum, class Value>
Sum squares(const Value* values, std::size_t count) {
  Sum sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<Sum>(values[i]) * static_cast<Sum>(values[i]);
  return sum;
}

/// The squared norm of the gradient of one example at a layer, with activations in grid steps. [per-example-norm]
double squared_norm(const Slice& slice) {
  if (slice.positions == 1)  // |a^T d|^2 = |a|^2 |d|^2
    return squares<double>(slice.inputs, slice.columns) * squares<double>(slice.deltas, slice.outputs);
  std::vector<double> gradient(slice.columns * slice.outputs);
  for (std::size_t p = 0; p < slice.positions; ++p)
    for (std::size_t j = 0; j < slice.columns; ++j) {
      const double input = slice.inputs[p * slice.columns + j];
      for (std::size_t k = 0; k < slice.outputs; ++k) gradient[j * slice.outputs + k] += input * slice.deltas[p * slice.outputs + k];
    }
  return squares<double>(gradient.data(), gradient.size());
}

Wide wide(std::int64_t value) { return static_cast<Wide>(static_cast<std::uint64_t>(value)); }  // value >= 0

/// The number of products of these with deltas whose sum certainly fits in 31 bits.
std::size_t rows_at_once(const std::int16_t* inputs, std::size_t count) {
  std::int64_t most = 1;
  for (std::size_t i = 0; i < count; ++i) most = std::max<std::int64_t>(most, std::abs(static_cast<int>(inputs[i])));
  return static_cast<std::size_t>(0x7FFFFFFF / (most * largest_delta));
}

double norm_of(const std::vector<Factors>& factors, std::size_t example) {
  double sum = 0;
  for (const Factors& layer : factors) sum += squared_norm(Slice(layer, example));
  return std::sqrt(sum) / activation_one;
}

/// Rounds towards zero and clips to 16 bits.
std::int16_t truncate(double value) {
  if (value >= static_cast<double>(largest_delta)) return static_cast<std::int16_t>(largest_delta);
  if (value <= -static_cast<double>(largest_delta)) return static_cast<std::int16_t>(-largest_delta);
  return static_cast<std::int16_t>(value);
}

}  // namespace

ClipGrid::ClipGrid(Interval clip) : delta_bits_(0), bound_(0) {
  if (!(clip.lo >= 1e-6 && clip.hi <= 1e6)) throw DomainError("train: --clip must be between 1e-6 and 1e6");
  while (std::ldexp(clip.hi, delta_bits_ + 1) <= static_cast<double>(largest_delta)) ++delta_bits_;
  while (std::ldexp(clip.hi, delta_bits_) > static_cast<double>(largest_delta)) --delta_bits_;
  bound_ = static_cast<std::uint64_t>(std::floor(std::ldexp(clip.lo, delta_bits_ + activation_bits)));
}

PrivateStep::PrivateStep(const ClipGrid& grid, const Model& model, noise::Dyadic noise_scale)
    : grid_(grid),
      layers_(model.layers()),
      noise_(noise::Law::rounded_gaussian, noise_scale),
      deltas_(layers_.size()),
      sum_(model.weights().size()),
      noisy_(model.weights().size()),
      pool_(model.weights().size()) {}

void PrivateStep::quantise(const std::vector<Factors>& factors, std::size_t example, double factor) {
  const double scale = std::ldexp(factor, grid_.delta_bits());
  for (std::size_t layer = 0; layer < factors.size(); ++layer) {
    const Slice slice(factors[layer], example);
    const std::size_t count = slice.positions * slice.outputs;
    std::int16_t* out = deltas_[layer].data() + example * count;
    for (std::size_t i = 0; i < count; ++i) out[i] = truncate(scale * static_cast<double>(slice.deltas[i]));
  }
}

// The check that the privacy guarantee depends on; it uses integers only. [private-step]
bool PrivateStep::is_within_bound(const std::vector<Factors>& factors, std::size_t example) {
  Wide sum = 0;
  for (std::size_t layer = 0; layer < factors.size(); ++layer) {
    const Slice slice(factors[layer], example);
    const std::int16_t* deltas = deltas_[layer].data() + example * slice.positions * slice.outputs;
    if (slice.positions == 1) {
      sum += wide(squares<std::int64_t>(slice.inputs, slice.columns)) * wide(squares<std::int64_t>(deltas, slice.outputs));
      continue;
    }
    one_.assign(slice.columns * slice.outputs, 0);
    add_outer_products({slice.inputs, slice.positions, slice.columns}, {deltas, slice.positions, slice.outputs},
                       rows_at_once(slice.inputs, slice.positions * slice.columns), one_);
    for (const std::int64_t entry : one_) sum += wide(std::abs(entry)) * wide(std::abs(entry));
  }
  return sum <= static_cast<Wide>(grid_.bound()) * grid_.bound();
}

bool PrivateStep::clip(const std::vector<Factors>& factors, std::size_t example) {
  constexpr double margin = 1 - 0x1p-20;  // the norm below is rounded
  constexpr int attempts = 8;             // truncation can increase only sums over positions, by less than these factors reduce them
  const double norm = norm_of(factors, example);
  if (!(norm < 1e30)) {  // also for NaN and infinity
    ++tally_.zeroed;
    return false;
  }
  const double bound = std::ldexp(static_cast<double>(grid_.bound()), grid_.exponent());
  double factor = norm > bound ? margin * bound / norm : 1;
  tally_.clipped += norm > bound ? 1 : 0;
  for (int i = 0; i < attempts; ++i, factor *= 1 - std::ldexp(1.0, i - attempts)) {
    quantise(factors, example, factor);
    if (is_within_bound(factors, example)) return true;
  }
  ++tally_.zeroed;
  return false;
}

const std::vector<std::int64_t>& PrivateStep::clipped_sum(const std::vector<Factors>& factors) {
  const std::size_t examples = examples_in(factors);
  for (std::size_t layer = 0; layer < factors.size(); ++layer)
    deltas_[layer].assign(static_cast<std::size_t>(factors[layer].deltas.size()), 0);
  for (std::size_t example = 0; example < examples; ++example) {
    if (clip(factors, example)) continue;
    for (std::size_t layer = 0; layer < factors.size(); ++layer) {
      const std::size_t count = factors[layer].positions * static_cast<std::size_t>(factors[layer].deltas.cols());
      std::fill_n(deltas_[layer].begin() + static_cast<std::ptrdiff_t>(example * count), count, std::int16_t{0});
    }
  }
  std::fill(sum_.begin(), sum_.end(), 0);
  for (std::size_t layer = 0; layer < factors.size(); ++layer) {
    const Factors& one = factors[layer];
    const auto rows = static_cast<std::size_t>(one.deltas.rows());
    // With one position no product exceeds the bound; with several, only their sum is known not to exceed it.
    const std::size_t at_once = one.positions == 1 ? static_cast<std::size_t>(0x7FFFFFFFU / grid_.bound())
                                                   : rows_at_once(one.inputs.data(), static_cast<std::size_t>(one.inputs.size()));
    add_outer_products({one.inputs.data(), rows, static_cast<std::size_t>(one.inputs.cols())},
                       {deltas_[layer].data(), rows, static_cast<std::size_t>(one.deltas.cols())}, at_once,
                       std::span(sum_).subspan(layers_[layer].offset, layers_[layer].rows * layers_[layer].columns));
  }
  return sum_;
}

const std::vector<std::int64_t>& PrivateStep::noisy_sum(const std::vector<Factors>& factors, noise::WordStream& words) {
  noise_.draw(words, pool_);
  const bool fits = noise::add_noise(clipped_sum(factors), pool_, noisy_);
  noise::wipe(sum_.data(), sum_.size() * sizeof(std::int64_t));  // the sum without noise
  if (!fits) throw DomainError("train: a noisy sum is too large for the grid");
  return noisy_;
}

std::vector<double> gradient_norms(const std::vector<Factors>& factors) {
  std::vector<double> norms(examples_in(factors));
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = norm_of(factors, i);
  return norms;
}

}  // namespace tradeoff::detail::train
