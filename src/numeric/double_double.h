// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

// Unevaluated sums of two doubles, about 106 bits: for recurrences over millions of cells and for tables that must be correctly rounded.
// The error of each operation is below 2^-100 relative to the result, for a sum relative to the larger operand. Error bounds assume only
// 2^-80.
namespace tradeoff::numeric {

struct DoubleDouble {
  double high = 0;
  double low = 0;

  [[nodiscard]] double value() const { return high + low; }
};

/// a + b exactly, |a| >= |b| or a == 0.
[[nodiscard]] inline DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
/// a + b exactly (Knuth).
[[nodiscard]] inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_virtual = sum - a;
  return {sum, (a - (sum - b_virtual)) + (b - b_virtual)};
}
/// a * b exactly, unless it underflows.
[[nodiscard]] inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

[[nodiscard]] inline DoubleDouble operator+(DoubleDouble a, double b) {
  const DoubleDouble sum = two_sum(a.high, b);
  return fast_two_sum(sum.high, sum.low + a.low);
}
[[nodiscard]] inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = two_sum(a.high, b.high);
  const DoubleDouble low = two_sum(a.low, b.low);
  const DoubleDouble middle = fast_two_sum(high.high, high.low + low.high);
  return fast_two_sum(middle.high, middle.low + low.low);
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

}  // namespace tradeoff::numeric
