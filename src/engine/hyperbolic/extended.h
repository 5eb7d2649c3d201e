// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers of about 106 bits, as an unevaluated sum of two doubles. The distance between a sum of break points and epsilon is multiplied by
// the contour variable, which may be 1e18, so it must be computed in more than double precision. [break-point-expansion]
namespace tradeoff::hyperbolic {

struct Extended {
  double high = 0;
  double low = 0;

  [[nodiscard]] double value() const { return high + low; }
};

/// Every operation below has at most this relative error (for the sum: relative to the larger operand).
inline constexpr double extended_unit = 0x1p-100;

[[nodiscard]] Extended operator+(Extended a, Extended b);
[[nodiscard]] Extended operator-(Extended a);
[[nodiscard]] Extended operator*(Extended a, Extended b);
[[nodiscard]] Extended operator/(Extended a, Extended b);

/// The sum; a bound of its rounding is added to `error`. Nothing is added if the sum is exact, so that a tie is recognised as a tie.
[[nodiscard]] Extended add(Extended a, Extended b, double& error);

/// log(1 - x) for 0 < x < 1, relative error below 2^-96.
[[nodiscard]] Extended log_of_complement(double x);
inline constexpr double log_of_complement_error = 0x1p-96;

}  // namespace tradeoff::hyperbolic
