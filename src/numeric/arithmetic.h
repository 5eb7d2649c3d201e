// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numeric/conversions.h"
#include "numeric/libm_bounds.h"
#include "tradeoff/interval.h"

#ifdef __FAST_MATH__
#error "tradeoff certifies rounding errors: it must not be compiled with -ffast-math"
#endif

// Interval arithmetic by software outward rounding: every operation is done in the default rounding mode, and its result is moved outward
// unless it is proved exact [outward-rounding]. It sets no rounding modes, because optimisers and WebAssembly ignore them (docs/adr/0002).
// The operators are found by argument-dependent lookup; this header is private, and the public Interval has no arithmetic.
namespace tradeoff::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double unit_roundoff = 0x1p-53;  ///< the largest relative error of one rounding to nearest

/// A double from an enclosure, for searches whose result is verified afterwards: the middle, or an end if the other is infinite.
[[nodiscard]] inline double middle_of(Interval a) {
  if (a.lo == -infinity) return a.hi;
  return a.hi == infinity ? a.lo : a.lo + (a.hi - a.lo) / 2;
}

namespace numeric {

/// The next double above / below; infinities stay; NaN is not allowed.
[[nodiscard]] inline double next_up(double x) {
  if (x == infinity) return x;
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  const auto bits = bit_cast<std::int64_t>(x);
  return bit_cast<double>(x > 0 ? bits + 1 : bits - 1);
}
[[nodiscard]] inline double next_down(double x) { return -next_up(-x); }

/// Moves outward by `ulps` units in the last place (relative, and never less than `ulps` subnormal steps).
[[nodiscard]] inline double up_by(double x, double ulps) {
  if (!(std::abs(x) <= std::numeric_limits<double>::max())) return x;
  return x + ulps * (std::abs(x) * 0x1p-52 + std::numeric_limits<double>::denorm_min());
}
[[nodiscard]] inline double down_by(double x, double ulps) { return -up_by(-x, ulps); }

/// Sum rounded to nearest and the sign of the rounding error (Knuth's TwoSum; exact unless the sum overflows).
[[nodiscard]] inline double two_sum_error(double a, double b, double sum) {
  const double b_virtual = sum - a;
  return (a - (sum - b_virtual)) + (b - b_virtual);
}
[[nodiscard]] inline double add_up(double a, double b) {
  const double sum = a + b;
  if (!(std::abs(sum) < infinity)) {
    if (std::isnan(sum)) return infinity;  // opposite infinities: nothing is certain
    return sum == -infinity && a != -infinity && b != -infinity ? std::numeric_limits<double>::lowest() : sum;
  }
  return two_sum_error(a, b, sum) > 0 ? next_up(sum) : sum;
}
[[nodiscard]] inline double add_down(double a, double b) { return -add_up(-a, -b); }

/// The product; 0 times infinity is 0, as interval products require.
[[nodiscard]] inline double multiply_up(double a, double b) {
  if (a == 0 || b == 0) return 0;
  const double product = a * b;
  if (std::abs(product) == infinity) {
    const bool exact = std::abs(a) == infinity || std::abs(b) == infinity;
    return exact || product > 0 ? product : std::numeric_limits<double>::lowest();
  }
  if (std::abs(product) < 0x1p-960) return next_up(product);  // the residual below could underflow
  return std::fma(a, b, -product) > 0 ? next_up(product) : product;
}
[[nodiscard]] inline double multiply_down(double a, double b) { return -multiply_up(-a, b); }

/// The quotient, b != 0. Infinity over infinity gives no bound.
[[nodiscard]] inline double divide_up(double a, double b) {
  if (a == 0) return 0;
  const double quotient = a / b;
  if (std::abs(b) == infinity) return std::abs(a) == infinity ? infinity : quotient;
  if (std::abs(quotient) == infinity) return std::abs(a) == infinity || quotient > 0 ? quotient : std::numeric_limits<double>::lowest();
  if (std::abs(quotient) < 0x1p-900 || std::abs(a) < 0x1p-900) return next_up(quotient);
  const double residual = std::fma(quotient, b, -a);  // quotient - a/b has the sign of residual / b
  return (b > 0 ? residual < 0 : residual > 0) ? next_up(quotient) : quotient;
}
[[nodiscard]] inline double divide_down(double a, double b) { return -divide_up(-a, b); }

}  // namespace numeric
}  // namespace tradeoff::detail

// Private, but in the namespace of Interval: argument-dependent lookup must find arithmetic on intervals from every namespace.
namespace tradeoff {

[[nodiscard]] inline Interval hull(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
/// Pointwise maximum / minimum: the interval of max(x, y) for x in a, y in b.
[[nodiscard]] inline Interval max(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }
[[nodiscard]] inline Interval min(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
/// Both enclose the same number. If rounding made them disjoint, the first is returned.
[[nodiscard]] inline Interval intersect(Interval a, Interval b) {
  const Interval both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return both.lo <= both.hi ? both : a;
}
[[nodiscard]] inline Interval clamp(Interval a, double low, double high) {
  return {std::clamp(a.lo, low, high), std::clamp(a.hi, low, high)};
}

[[nodiscard]] inline Interval operator-(Interval a) { return {-a.hi, -a.lo}; }
[[nodiscard]] inline Interval operator+(Interval a, Interval b) {
  return {detail::numeric::add_down(a.lo, b.lo), detail::numeric::add_up(a.hi, b.hi)};
}
[[nodiscard]] inline Interval operator-(Interval a, Interval b) { return a + -b; }
[[nodiscard]] inline Interval operator*(Interval a, Interval b) {
  using namespace detail::numeric;  // NOLINT: local, for the four products
  if (a.lo >= 0 && b.lo >= 0) return {multiply_down(a.lo, b.lo), multiply_up(a.hi, b.hi)};
  return {std::min({multiply_down(a.lo, b.lo), multiply_down(a.lo, b.hi), multiply_down(a.hi, b.lo), multiply_down(a.hi, b.hi)}),
          std::max({multiply_up(a.lo, b.lo), multiply_up(a.lo, b.hi), multiply_up(a.hi, b.lo), multiply_up(a.hi, b.hi)})};
}
/// Division by an interval that contains 0 returns all possible values: the whole line if b has 0 in its interior.
[[nodiscard]] Interval operator/(Interval a, Interval b);

[[nodiscard]] inline Interval operator+(Interval a, double b) { return a + Interval::exactly(b); }
[[nodiscard]] inline Interval operator+(double a, Interval b) { return Interval::exactly(a) + b; }
[[nodiscard]] inline Interval operator-(Interval a, double b) { return a - Interval::exactly(b); }
[[nodiscard]] inline Interval operator-(double a, Interval b) { return Interval::exactly(a) - b; }
[[nodiscard]] inline Interval operator*(Interval a, double b) { return a * Interval::exactly(b); }
[[nodiscard]] inline Interval operator*(double a, Interval b) { return Interval::exactly(a) * b; }
[[nodiscard]] inline Interval operator/(Interval a, double b) { return a / Interval::exactly(b); }
[[nodiscard]] inline Interval operator/(double a, Interval b) { return Interval::exactly(a) / b; }

// Elementary functions, each within the bound of numeric/libm_bounds.h. Outside their domain the valid part is used
// (log of a negative end is -infinity, sqrt of one is 0), so a clamped enclosure is never NaN.
[[nodiscard]] Interval square(Interval a);
[[nodiscard]] Interval sqrt(Interval a);
[[nodiscard]] Interval exp(Interval a);
[[nodiscard]] Interval expm1(Interval a);
[[nodiscard]] Interval log(Interval a);
[[nodiscard]] Interval log1p(Interval a);
[[nodiscard]] Interval tanh(Interval a);
/// log(1 - exp(a)) for a <= 0.
[[nodiscard]] Interval log1mexp(Interval a);
/// log(exp(a) + exp(b)).
[[nodiscard]] Interval log_add_exp(Interval a, Interval b);
/// Integer power, exponent >= 0, by repeated squaring.
[[nodiscard]] Interval power(Interval a, std::uint64_t exponent);

}  // namespace tradeoff
