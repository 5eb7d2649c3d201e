// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numeric/arithmetic.h"
#include "numeric/double_double.h"

// The Mills ratio in plain doubles with a proved relative error: the basis of the normal functions and the Gaussian profile.
namespace tradeoff::detail::numeric {

/// Beyond this a square overflows; every function here has reached its limit before.
inline constexpr double far_away = 1e150;

/// A positive number with a relative error bound: |exact - value| <= relative_error * exact.
struct Approximation {
  double value = 0;
  double relative_error = 0;
};

/// Encloses a non-negative number by its approximation; the absolute part covers intermediate products that underflow.
[[nodiscard]] inline Interval around(double value, double relative_error) {
  const double error = value * (1.01 * relative_error + 4 * unit_roundoff) + 4 * std::numeric_limits<double>::denorm_min();
  return {std::max(0.0, value - error), value + error};
}

[[nodiscard]] inline Interval around(Approximation a) { return around(a.value, a.relative_error); }

/// Mills(x) = (1 - Phi(x)) / phi(x) for x >= -1. [normal-functions]
[[nodiscard]] Approximation mills(const Precise& x);

/// Mills(y) - Mills(y + mu) = factor * scale, y >= -1, mu > 0, without cancellation. [normal-functions]
struct MillsDifference {
  Approximation factor;
  double scale = 1;  // mu or 1: stored separately because their product may underflow
};
[[nodiscard]] MillsDifference mills_difference(const Precise& y, const Precise& z, double mu);

/// exp(-x^2/2) / sqrt(2 pi) = value * tail, where tail is 1 unless the product could underflow. [normal-functions]
struct Density {
  Approximation value;
  double tail = 1;
};
[[nodiscard]] Density density(const Precise& x);

/// The logarithm of the same, |exact - value| <= error.
struct LogDensity {
  double value = 0;
  double error = 0;
};
[[nodiscard]] LogDensity log_density(const Precise& x);

}  // namespace tradeoff::detail::numeric
