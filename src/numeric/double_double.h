// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "numeric/arithmetic.h"

// The one type for numbers of more than a double: an unevaluated sum of two doubles, about 106 bits. Its users are the roots of unity of
// the fft, the laws of the lattice, the break points of the hyperbolic engine and the Gaussian profile.
//
// Bounds, with u = 2^-53 and terms of order u^3 left out, for operands with |low| <= u |high| and results that neither overflow nor
// underflow (Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017;
// Muller and Rideau, "Formalization of double-word arithmetic", 2022, for the product):
//   double-double + double         2 u^2 relative to the result
//   double-double + double-double  3 u^2 relative to the result, also where it cancels
//   double-double * double-double  5 u^2
//   double-double / double         4 u^2 (the remainder of the first quotient is exact; its sum with `low` and the second quotient round)
//   double-double / double-double  6 u^2 (3 u^2 of the product with the first quotient, 3 u^2 of the last sum)
// All of them are below double_double_error = 64 u^2, the only bound that the users rely on: tests/numeric/double_double_test.cpp.
namespace tradeoff::detail::numeric {

struct DoubleDouble {
  double high = 0;
  double low = 0;

  [[nodiscard]] double value() const { return high + low; }
};

/// Bounds the error of every operation below, relative to its result.
inline constexpr double double_double_error = 0x1p-100;

/// a + b exactly, if |a| >= |b| or the exponent of a is not below that of b or a == 0.
[[nodiscard]] inline DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
/// a + b exactly, unless the sum overflows.
[[nodiscard]] inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, two_sum_error(a, b, sum)};
}
/// a * b exactly, unless the product overflows or its error underflows.
[[nodiscard]] inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// a + b; adds to `error` a bound on the rounding, and nothing where the sum is exact, so that a tie is seen as a tie.
[[nodiscard]] inline DoubleDouble add(DoubleDouble a, DoubleDouble b, double& error) {
  const DoubleDouble high = two_sum(a.high, b.high);
  const DoubleDouble low = two_sum(a.low, b.low);
  const DoubleDouble carry = two_sum(high.low, low.high);
  const DoubleDouble middle = fast_two_sum(high.high, carry.high);
  const DoubleDouble last = two_sum(middle.low, low.low);
  if (carry.low != 0 || last.low != 0) error += double_double_error * std::max(std::abs(a.high), std::abs(b.high));
  return fast_two_sum(middle.high, last.high);
}

[[nodiscard]] inline DoubleDouble operator+(DoubleDouble a, double b) {
  const DoubleDouble sum = two_sum(a.high, b);
  return fast_two_sum(sum.high, sum.low + a.low);
}
[[nodiscard]] inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  double ignored = 0;
  return add(a, b, ignored);
}
[[nodiscard]] inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
[[nodiscard]] inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
[[nodiscard]] inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_product(a.high, b.high);
  return fast_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
[[nodiscard]] inline DoubleDouble operator/(DoubleDouble a, double b) {
  const double quotient = a.high / b;
  const DoubleDouble back = two_product(quotient, b);
  return fast_two_sum(quotient, ((a.high - back.high) - back.low + a.low) / b);
}
[[nodiscard]] inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.high / b.high;
  const DoubleDouble rest = a - b * DoubleDouble{first, 0};
  const double second = rest.high / b.high;
  const DoubleDouble last = rest - b * DoubleDouble{second, 0};
  return DoubleDouble{first, 0} + fast_two_sum(second, last.high / b.high);
}

/// log(1 - x) for 0 < x < 1, relative error below log_of_complement_error.
[[nodiscard]] DoubleDouble log_of_complement(double x);
inline constexpr double log_of_complement_error = 0x1p-96;

/// 1 - exp(-x) for 0 <= x <= 1/2, relative error below complement_of_exp_error: 29 errors of single operations relative to x, which is at
/// most 4/3 of the result, and the rest of the series.
[[nodiscard]] DoubleDouble complement_of_exp(DoubleDouble x);
inline constexpr double complement_of_exp_error = 0x1p-94;

/// A double-double that approximates a number: |exact - (high + low)| <= error.
struct Precise : DoubleDouble {
  double error = 0;
};
[[nodiscard]] inline Precise operator-(const Precise& a) { return {{-a.high, -a.low}, a.error}; }

}  // namespace tradeoff::detail::numeric
