// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

namespace tradeoff::detail {

/// The saddle-point approximation of the profile at the epsilon whose saddle point is a given order. It guides searches and proves nothing.
struct SaddlePoint {
  double epsilon = 0;
  double curvature = 0;  ///< second derivative of the exponent K(c) - c epsilon - log c (c + 1) at the order
  double log_delta = 0;
};

/// At an order c > 0, from the logarithm of the moment there, K(c), and its first and second derivative.
[[nodiscard]] inline SaddlePoint saddle_point(double c, double log_moment, double mean, double variance) {
  const double epsilon = mean - 1 / c - 1 / (c + 1);
  const double curvature = variance + 1 / (c * c) + 1 / ((c + 1) * (c + 1));
  return {epsilon, curvature, log_moment - c * epsilon - std::log(c * (c + 1)) - 0.5 * std::log(2 * std::numbers::pi * curvature)};
}

}  // namespace tradeoff::detail
