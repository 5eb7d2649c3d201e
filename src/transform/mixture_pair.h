// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// One side of a pair of Gaussian mixtures: sum_k a_k N(k mu, 1) with the binomial weights a_k of `count` draws at `rate`. Its density is
/// that of N(0, 1) times u(x) = sum_k a_k exp(k mu x - k^2 mu^2/2).
class MixtureSide {
 public:
  MixtureSide(Interval mu, Interval rate, std::uint64_t count);

  [[nodiscard]] std::size_t count() const { return weights_.size() - 1; }
  [[nodiscard]] Interval weight(std::size_t k) const { return weights_[k]; }
  [[nodiscard]] Interval log_weight(std::size_t k) const { return log_weights_[k]; }
  /// k mu, and the log-likelihood ratio k mu x - k^2 mu^2/2 of N(k mu, 1) against N(0, 1).
  [[nodiscard]] Interval shift(std::size_t k) const { return shifts_[k]; }
  [[nodiscard]] Interval log_ratio(std::size_t k, Interval x) const;
  /// log u(x), to full accuracy relative to u - 1 where u is near 1.
  [[nodiscard]] Interval log_density(Interval x) const;

  /// The same in plain doubles: log u, and mean and size-biased mean E[k^2]/E[k] of k under the weights a_k exp(k mu x - k^2 mu^2/2).
  struct Rough {
    double log_density = 0;
    double mean = 0;
    double biased_mean = 0;
  };
  [[nodiscard]] Rough rough(double x) const;
  /// log |u(x + iy)| and arg u(x + iy), for 0 <= count mu y <= pi/2: sums of terms in one quadrant, without cancellation.
  struct Polar {
    double log_modulus = 0;
    double argument = 0;
  };
  [[nodiscard]] Polar rough(double x, double y) const;

 private:
  Interval mu_;
  std::vector<Interval> weights_;
  std::vector<Interval> log_weights_;
  std::vector<Interval> shifts_;
  std::vector<Interval> half_squares_;
  double middle_mu_;
  std::vector<double> plain_log_weights_;
};

/// [gaussian-mixture-pair] P = sum_k Bin(ahead, rate)(k) N(k mu, 1) against Q = sum_k Bin(behind, rate)(k) N(-k mu, 1). Its loss
/// log u(x) - log v(-x) increases with x. behind = 0: Q = N(0, 1). Requires 0 < mu, 0 < rate < 1, ahead >= 1.
struct MixturePair {
  MixturePair(Interval shift, Interval sampling_rate, std::uint64_t ahead_count, std::uint64_t behind_count)
      : mu(shift), rate(sampling_rate), ahead(shift, sampling_rate, ahead_count), behind(shift, sampling_rate, behind_count) {}

  Interval mu;
  Interval rate;
  MixtureSide ahead;
  MixtureSide behind;
};

}  // namespace tradeoff::detail
