// SPDX-License-Identifier: Apache-2.0
#include "noise/dyadic.h"

#include <bit>
#include <cmath>

namespace tradeoff::detail::noise {
namespace {

// The AVX-512 multiplication takes 52 bits.
constexpr int significant_bits = 52;

Dyadic from_double(double value, double (*round)(double)) {
  int power = 0;
  const double mantissa = std::frexp(value, &power);  // in [1/2, 1)
  auto numerator = static_cast<std::uint64_t>(round(std::ldexp(mantissa, significant_bits)));
  const int zeros = std::countr_zero(numerator);
  numerator >>= zeros;
  return {numerator, significant_bits - power - zeros};
}

}  // namespace

Dyadic Dyadic::at_least(double value) {
  return from_double(value, [](double x) { return std::ceil(x); });
}

Dyadic Dyadic::at_most(double value) {
  return from_double(value, [](double x) { return std::floor(x); });
}

double Dyadic::value() const { return std::ldexp(static_cast<double>(numerator), -exponent); }

}  // namespace tradeoff::detail::noise
