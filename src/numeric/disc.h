// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

// Discs of complex numbers with a real centre: bounds of analytic functions near the real axis. Every operation returns a disc that
// contains the results for all numbers of its arguments, rounding included. A radius that is infinite says that nothing is known.
// [disc-arithmetic]
namespace tradeoff::detail {

struct Disc {
  static constexpr double underflow = 1e-300;  // more than a product or an exponential loses there

  double centre = 0;
  double radius = 0;

  /// A disc from a computed centre and radius; `size` bounds the numbers whose roundings, a few each, are added to the radius.
  [[nodiscard]] static Disc rounded(double centre, double radius, double size) {
    const double all = radius * (1 + 16 * unit_roundoff) + 16 * unit_roundoff * size + underflow;
    return all < infinity && std::abs(centre) < infinity ? Disc{centre, all} : Disc{0, infinity};  // NaN becomes no bound
  }
  [[nodiscard]] static Disc around(Interval real) {
    const double centre = middle_of(real);
    return rounded(centre, real.width(), std::abs(centre));
  }

  [[nodiscard]] double least() const { return centre - radius; }              ///< of the real part
  [[nodiscard]] double largest() const { return std::abs(centre) + radius; }  ///< of the modulus
};

[[nodiscard]] inline Disc operator-(Disc a) { return {-a.centre, a.radius}; }
[[nodiscard]] inline Disc operator+(Disc a, Disc b) {
  const double sum = a.centre + b.centre;
  return Disc::rounded(sum, a.radius + b.radius, std::abs(sum));
}
[[nodiscard]] inline Disc operator-(Disc a, Disc b) { return a + -b; }
[[nodiscard]] inline Disc operator*(Disc a, Disc b) {
  const double product = a.centre * b.centre;
  return Disc::rounded(product, std::abs(a.centre) * b.radius + a.radius * b.largest(), std::abs(product));
}
/// The reciprocal of a disc that does not contain 0 is a disc.
[[nodiscard]] inline Disc operator/(Disc a, Disc b) {
  const double gap = std::abs(b.centre) - b.radius, scale = gap * (std::abs(b.centre) + b.radius);
  if (!(gap > 0) || !(scale > Disc::underflow)) return {0, infinity};
  const double centre = b.centre / scale;
  // gap is a difference of doubles: its relative error is that of the larger one, magnified
  const double doubt = 1 + 4 * unit_roundoff * std::abs(b.centre) / gap;
  return a * Disc::rounded(centre, b.radius / scale * doubt + std::abs(centre) * (doubt - 1), std::abs(centre));
}

[[nodiscard]] inline Disc operator+(Disc a, double b) { return a + Disc{b, 0}; }
[[nodiscard]] inline Disc operator+(double a, Disc b) { return Disc{a, 0} + b; }
[[nodiscard]] inline Disc operator-(Disc a, double b) { return a - Disc{b, 0}; }
[[nodiscard]] inline Disc operator-(double a, Disc b) { return Disc{a, 0} - b; }
[[nodiscard]] inline Disc operator*(Disc a, double b) { return a * Disc{b, 0}; }
[[nodiscard]] inline Disc operator*(double a, Disc b) { return Disc{a, 0} * b; }
[[nodiscard]] inline Disc operator/(double a, Disc b) { return Disc{a, 0} / b; }

/// |e^z - e^c| <= e^c (e^r - 1).
[[nodiscard]] inline Disc exp(Disc a) {
  const double centre = std::exp(a.centre);
  return Disc::rounded(centre, centre * std::expm1(a.radius), centre);
}
[[nodiscard]] inline Disc expm1(Disc a) {
  const double centre = std::expm1(a.centre);
  return Disc::rounded(centre, std::exp(a.centre) * std::expm1(a.radius), std::abs(centre));
}
/// |log z - log c| <= -log(1 - r/c), for discs right of 0.
[[nodiscard]] inline Disc log(Disc a) {
  const double share = a.radius / a.centre * (1 + 4 * unit_roundoff);
  if (!(a.centre > 0) || !(share < 1)) return {0, infinity};
  const double centre = std::log(a.centre);
  return Disc::rounded(centre, -std::log1p(-share), std::abs(centre));
}
[[nodiscard]] inline Disc log1p(Disc a) {
  const double base = 1 + a.centre, share = (a.radius + 4 * unit_roundoff) / base * (1 + 8 * unit_roundoff);  // 1 + c is rounded
  if (!(base > 0) || !(share < 1)) return {0, infinity};
  const double centre = std::log1p(a.centre);
  return Disc::rounded(centre, -std::log1p(-share), std::abs(centre));
}

}  // namespace tradeoff::detail
