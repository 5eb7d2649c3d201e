// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace tradeoff::detail {

/// A polynomial p that follows a profile on [start, end]. If the order is positive, delta(e) <= exp(base - order e) (p(e) + error);
/// if it is negative, 1 - delta(e) >= exp(base - order e) (p(e) - error). p interpolates `values` at the Chebyshev points of an interval
/// that contains [start, end]; `points` are these points up to rounding. [contour-arc]
struct Arc {
  static constexpr std::size_t size = 24;
  static constexpr double lebesgue = 3.1;  ///< above 1 + (2/pi) log(size), the Lebesgue constant of the points

  double start = 0, end = 0;
  double middle = 0;     ///< of the interval of the points
  double half = 0;       ///< half the length of the interval of the points
  double misplaced = 0;  ///< the largest distance of a point from its exact place
  std::array<double, size> points{};
  std::array<double, size> values{};
  double order = 0;
  double base = 0;
  double error = 0;

  /// A bound of the distance of exp(i t e) from its polynomial, t >= 0.
  [[nodiscard]] double error_of_wave(double t) const;
  /// The bound 2^(1-n) half^n/n! of what the polynomial misses of a function whose derivative of order n = size is at most
  /// exp(log_derivative).
  [[nodiscard]] double error_of_derivative(double log_derivative) const;
};

/// An arc over [start, end] without values.
[[nodiscard]] Arc arc_over(double start, double end);

}  // namespace tradeoff::detail
