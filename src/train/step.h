// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "noise/grid_noise.h"
#include "noise/secret.h"
#include "tradeoff/interval.h"
#include "train/model.h"

// One step of private gradient descent, in integers: the contribution of a record is a vector of integers whose norm is checked in
// integers, the sums are integers, and the noise is drawn exactly on the same integers. [private-step]
namespace tradeoff::detail::train {

/// The grid of the gradients; it depends only on the clipping norm.
class ClipGrid {
 public:
  /// Throws DomainError unless the clipping norm lies between 1e-6 and 1e6.
  explicit ClipGrid(Interval clip);
  /// Deltas are in steps of 2^-delta_bits, activations of 2^-activation_bits, so gradients are in steps of 2^exponent().
  [[nodiscard]] int delta_bits() const { return delta_bits_; }
  [[nodiscard]] int exponent() const { return -(delta_bits_ + activation_bits); }
  /// The clipping norm in steps, rounded down: no contribution of a record has a larger norm.
  [[nodiscard]] std::uint64_t bound() const { return bound_; }

 private:
  int delta_bits_;
  std::uint64_t bound_;
};

/// Counts of a batch. They depend on the data: show them to the owner of the data only.
struct Tally {
  std::uint64_t clipped = 0;
  std::uint64_t zeroed = 0;  ///< gradients that are not finite; they contribute nothing
};

/// Clips, sums and adds noise. Reuses its buffers; not thread-safe.
class PrivateStep {
 public:
  /// Uses noise of this standard deviation, in steps.
  PrivateStep(const ClipGrid& grid, const Model& model, noise::Dyadic noise_scale);

  /// The exact sum of the clipped contributions of all examples, each of norm at most bound(). [private-step]
  [[nodiscard]] const std::vector<std::int64_t>& clipped_sum(const std::vector<Factors>& factors);
  /// The same plus fresh noise, which is drawn before the gradients are read.
  [[nodiscard]] const std::vector<std::int64_t>& noisy_sum(const std::vector<Factors>& factors, noise::WordStream& words);

  [[nodiscard]] const ClipGrid& grid() const { return grid_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  using Integers = std::vector<std::int16_t>;
  /// Writes the clipped integer deltas of one example and returns whether it contributes.
  bool clip(const std::vector<Factors>& factors, std::size_t example);
  [[nodiscard]] bool is_within_bound(const std::vector<Factors>& factors, std::size_t example);
  void quantise(const std::vector<Factors>& factors, std::size_t example, double factor);

  ClipGrid grid_;
  std::vector<Model::Layer> layers_;
  noise::GridNoise noise_;
  Tally tally_;
  std::vector<Integers> deltas_;  // clipped, per layer, as the deltas of the factors
  std::vector<std::int64_t> sum_;
  std::vector<std::int64_t> one_;  // the gradient of one example at a layer, if there are several positions
  std::vector<std::int64_t> noisy_;
  noise::SecretVector<std::int64_t> pool_;
};

/// The l2 norm of the gradient of each example, in the units of the clipping norm: a closed form for dense layers. [per-example-norm]
[[nodiscard]] std::vector<double> gradient_norms(const std::vector<Factors>& factors);

}  // namespace tradeoff::detail::train
