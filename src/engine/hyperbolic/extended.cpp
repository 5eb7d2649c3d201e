// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/extended.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::hyperbolic {
namespace {

Extended renormalise(double high, double low) {
  const double sum = high + low;
  return {sum, numeric::two_sum_error(high, low, sum)};
}

/// log((1 + z) / (1 - z)) for |z| <= 0.18: the remainder after 24 terms is below 0.18^48 of the first.
Extended twice_artanh(Extended z) {
  const Extended square = z * z;
  Extended sum{1.0 / 49, 0};
  for (int k = 23; k >= 0; --k) sum = sum * square + Extended{1, 0} / Extended{2.0 * k + 1, 0};
  return Extended{2, 0} * z * sum;
}

}  // namespace

Extended add(Extended a, Extended b, double& error) {
  const double high = a.high + b.high;
  const double high_error = numeric::two_sum_error(a.high, b.high, high);
  const double low = a.low + b.low;
  const double low_error = numeric::two_sum_error(a.low, b.low, low);
  const double middle = high_error + low;
  const Extended first = renormalise(high, middle);
  const double last = first.low + low_error;
  const bool exact = numeric::two_sum_error(high_error, low, middle) == 0 && numeric::two_sum_error(first.low, low_error, last) == 0;
  if (!exact) error += extended_unit * std::max(std::abs(a.high), std::abs(b.high));
  return renormalise(first.high, last);
}

Extended operator+(Extended a, Extended b) {
  double ignored = 0;
  return add(a, b, ignored);
}

Extended operator-(Extended a) { return {-a.high, -a.low}; }

Extended operator*(Extended a, Extended b) {
  const double product = a.high * b.high;
  const double error = std::fma(a.high, b.high, -product);
  return renormalise(product, error + (a.high * b.low + a.low * b.high));
}

Extended operator/(Extended a, Extended b) {
  const double first = a.high / b.high;
  const Extended rest = a + -(b * Extended{first, 0});
  const double second = rest.high / b.high;
  const Extended last = rest + -(b * Extended{second, 0});
  return Extended{first, 0} + renormalise(second, last.high / b.high);
}

Extended log_of_complement(double x) {
  if (x <= 0.3) return -twice_artanh(Extended{x, 0} / (Extended{2, 0} + Extended{-x, 0}));
  const Extended complement = Extended{1, 0} + Extended{-x, 0};  // exact
  int exponent = 0;
  const double mantissa = std::frexp(complement.high, &exponent);
  if (mantissa < 0.7) --exponent;  // the scaled number lies in [0.7, 1.4]
  const Extended scaled{std::ldexp(complement.high, -exponent), std::ldexp(complement.low, -exponent)};
  const Extended log_two{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  return Extended{static_cast<double>(exponent), 0} * log_two + twice_artanh((scaled + Extended{-1, 0}) / (scaled + Extended{1, 0}));
}

}  // namespace tradeoff::hyperbolic
