// SPDX-License-Identifier: Apache-2.0
#include "numeric/double_double.h"

namespace tradeoff::detail::numeric {
namespace {

/// log((1 + z) / (1 - z)) for |z| <= 0.18: the remainder after 24 terms is below 0.18^48 of the first.
DoubleDouble twice_artanh(DoubleDouble z) {
  const DoubleDouble square = z * z;
  DoubleDouble sum{1.0 / 49, 0};
  for (int k = 23; k >= 0; --k) sum = sum * square + DoubleDouble{1, 0} / (2.0 * k + 1);
  return DoubleDouble{2, 0} * z * sum;
}

}  // namespace

DoubleDouble log_of_complement(double x) {
  if (x <= 0.3) return -twice_artanh(DoubleDouble{x, 0} / (DoubleDouble{2, 0} + -x));
  const DoubleDouble complement = DoubleDouble{1, 0} + -x;  // exact
  int exponent = 0;
  const double mantissa = std::frexp(complement.high, &exponent);
  if (mantissa < 0.7) --exponent;  // the scaled number lies in [0.7, 1.4]
  const DoubleDouble scaled{std::ldexp(complement.high, -exponent), std::ldexp(complement.low, -exponent)};
  constexpr DoubleDouble log_two{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  return DoubleDouble{static_cast<double>(exponent), 0} * log_two + twice_artanh((scaled + -1.0) / (scaled + 1.0));
}

// 25 terms leave less than 1e-34 of the first.
DoubleDouble complement_of_exp(DoubleDouble x) {
  DoubleDouble sum{0, 0}, term{-1, 0};
  for (int k = 1; k <= 25; ++k) {
    term = term * -x / k;
    sum = sum + term;
  }
  return sum;
}

}  // namespace tradeoff::detail::numeric
