// SPDX-License-Identifier: Apache-2.0
#include "noise/enclosure.h"

namespace tradeoff::detail::noise {

Enclosure Enclosure::quotient(const Natural& numerator, std::uint64_t denominator, std::size_t precision) {
  const Natural below = (numerator << precision) / denominator;
  return {below, below + 1, precision};
}

Enclosure Enclosure::integer(const Natural& value, std::size_t precision) { return {value << precision, value << precision, precision}; }

Enclosure operator+(const Enclosure& a, const Enclosure& b) { return {a.below + b.below, a.above + b.above, a.precision}; }

Enclosure operator*(const Enclosure& a, const Enclosure& b) {
  return {(a.below * b.below) >> a.precision, ((a.above * b.above) >> a.precision) + 1, a.precision};
}

Enclosure operator*(const Enclosure& a, std::uint64_t b) { return {a.below * b, a.above * b, a.precision}; }

Enclosure operator/(const Enclosure& a, std::uint64_t b) { return {a.below / b, a.above / b + 1, a.precision}; }

Enclosure complement(const Enclosure& a) {
  const Natural one = Natural(1) << a.precision;
  return {a.above > one ? Natural() : one - a.above, one - a.below, a.precision};
}

bool certainly_less(const Enclosure& a, const Enclosure& b) { return a.above < b.below; }

namespace {

/// Adds terms until one is at most one unit and, by `halving`, every later term is at most half of the one before. The omitted rest is then
/// at most the last term. [slow-decision]
template <class Next, class Halving>
Enclosure sum_series(Enclosure term, Next next, Halving halving) {
  Enclosure sum = term;
  for (std::uint64_t n = 1;; ++n) {
    term = next(term, n);
    sum = sum + term;
    if (halving(n) && term.above <= Natural(1)) {
      sum.above = sum.above + term.above;
      return sum;
    }
  }
}

/// Smallest integer that is certainly not below the number.
std::uint64_t ceiling(const Enclosure& x) { return (x.above >> x.precision).low_word() + 1; }

}  // namespace

Enclosure exponential(const Enclosure& x) {
  const std::uint64_t size = ceiling(x);
  return sum_series(
      Enclosure::integer(1, x.precision), [&](const Enclosure& term, std::uint64_t n) { return term * x / n; },
      [&](std::uint64_t n) { return n + 1 >= 2 * size; });
}

Enclosure pi(std::size_t precision) {  // 2 sum n! / (1 * 3 * ... * (2n+1)); the ratio n / (2n+1) is below 1/2
  return sum_series(
      Enclosure::integer(2, precision), [](const Enclosure& term, std::uint64_t n) { return term * n / (2 * n + 1); },
      [](std::uint64_t) { return true; });
}

Enclosure normal_series(const Enclosure& z) {
  const Enclosure square = z * z;
  const std::uint64_t size = ceiling(square);
  return sum_series(
      z, [&](const Enclosure& term, std::uint64_t n) { return term * square / (2 * n + 1); },
      [&](std::uint64_t n) { return 2 * n + 3 >= 2 * size; });
}

}  // namespace tradeoff::detail::noise
