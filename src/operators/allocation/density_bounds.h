// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "operators/allocation/mean_tails.h"

namespace tradeoff::detail::allocation {

/// Bounds of the density of log((Y_1 + ... + Y_n)/n) everywhere, in terms of its values at places of an even lattice: between two places it
/// is at most the chord of logarithms and (step)^2 / 8 g^2, beyond them the bounds of tails hold. It is the density of a sum of a Gaussian
/// of deviation g = s / sqrt(n) and of something independent of it. [allocation-doubling]
class DensityBounds {
 public:
  /// `values` are the logarithms at first, first + step, ...
  DensityBounds(double s, double n, const MeanTails& tails, double first, double step, std::vector<double> values);
  /// The same for any sum of a Gaussian of deviation g and of something independent of it, without bounds of tails.
  DensityBounds(double g, double first, double step, std::vector<double> values);

  /// If the density is at most its value at all places, an upper bound of its logarithm at first + index * step.
  [[nodiscard]] double log_above(double index) const;
  /// A bound of the logarithm of the density from one of the probability of being at least a tenth of g nearer.
  [[nodiscard]] static double from_probability(double log_probability, double g);
  static constexpr double nearer = 0.1;

 private:
  [[nodiscard]] double left_of_all(double index) const;

  double n_, g_, first_, step_;
  std::vector<double> values_;
  std::vector<MeanTails::Line> left_;
  static constexpr double right_distance = 1.5;
  std::array<double, 2> right_{};  // at so many g beyond the last place, and at twice that
};

}  // namespace tradeoff::detail::allocation
