// SPDX-License-Identifier: Apache-2.0
#include "numeric/rational.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tradeoff::detail::numeric {
namespace {

[[nodiscard]] Bits128 common_divisor(Bits128 a, Bits128 b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

[[nodiscard]] std::optional<Bits128> checked_product(Bits128 a, Bits128 b) {
  Bits128 result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

[[nodiscard]] std::optional<Bits128> checked_sum(Bits128 a, Bits128 b) {
  Bits128 result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// In lowest terms; the denominator must be positive.
[[nodiscard]] Rational reduced(Bits128 numerator, Bits128 denominator) {
  const Bits128 divisor = common_divisor(numerator, denominator);
  return {numerator / divisor, denominator / divisor};
}

/// The root of a square; empty for any other number. By bisection: the root has at most 64 bits.
[[nodiscard]] std::optional<Bits128> root_of(Bits128 square) {
  Bits128 low = 0, high = Bits128{1} << 64U;  // low^2 <= square < high^2
  while (high - low > 1) {
    const Bits128 middle = low + (high - low) / 2;
    (middle * middle <= square ? low : high) = middle;
  }
  return low * low == square ? std::optional(low) : std::nullopt;
}

[[nodiscard]] std::optional<Bits128> integer_of(const std::string& digits) {
  std::optional<Bits128> value = Bits128{0};
  for (const char c : digits) {
    value = checked_product(*value, 10);
    if (value) value = checked_sum(*value, static_cast<Bits128>(c - '0'));
    if (!value) break;
  }
  return value;
}

[[nodiscard]] std::string digits_of(Bits128 value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// value * 10^-places.
[[nodiscard]] Decimal decimal_of(Bits128 value, int places) { return *read_decimal(digits_of(value) + "e-" + std::to_string(places)); }

}  // namespace

std::optional<Rational> exact_rational(const Quotient& quotient) {
  const auto& [above, below] = quotient;
  if (above.is_zero()) return Rational{};
  auto numerator = integer_of(above.digits), denominator = integer_of(below.digits);
  if (above.negative || below.negative || !numerator || !denominator || *denominator == 0) return std::nullopt;
  Rational result = reduced(*numerator, *denominator);
  std::int64_t power = above.exponent - below.exponent;
  Bits128& scaled = power > 0 ? result.numerator : result.denominator;
  for (; power != 0; power += power > 0 ? -1 : 1) {  // ends by overflow after at most 39 steps
    const auto next = checked_product(scaled, 10);
    if (!next) return std::nullopt;
    scaled = *next;
  }
  return reduced(result.numerator, result.denominator);
}

std::optional<Rational> sum(const std::optional<Rational>& a, const std::optional<Rational>& b) {
  if (!a || !b) return std::nullopt;
  const Bits128 divisor = common_divisor(a->denominator, b->denominator);
  const auto first = checked_product(a->numerator, b->denominator / divisor);
  const auto second = checked_product(b->numerator, a->denominator / divisor);
  const auto denominator = checked_product(a->denominator, b->denominator / divisor);
  if (!first || !second || !denominator) return std::nullopt;
  const auto numerator = checked_sum(*first, *second);
  return numerator ? std::optional(reduced(*numerator, *denominator)) : std::nullopt;
}

std::optional<Rational> product(const std::optional<Rational>& a, std::uint64_t times) {
  if (!a) return std::nullopt;
  const Bits128 divisor = common_divisor(a->denominator, times);
  const auto numerator = checked_product(a->numerator, times / divisor);
  return numerator ? std::optional(reduced(*numerator, a->denominator / divisor)) : std::nullopt;
}

std::optional<Rational> ratio(const std::optional<Rational>& a, const std::optional<Rational>& b) {
  if (!a || !b || b->numerator == 0) return std::nullopt;
  const Bits128 above = common_divisor(a->numerator, b->numerator), below = common_divisor(a->denominator, b->denominator);
  const auto numerator = checked_product(a->numerator / above, b->denominator / below);
  const auto denominator = checked_product(a->denominator / below, b->numerator / above);
  return numerator && denominator ? std::optional(reduced(*numerator, *denominator)) : std::nullopt;
}

std::optional<Rational> product(const std::optional<Rational>& a, const std::optional<Rational>& b) {
  if (!a || !b) return std::nullopt;
  if (b->numerator == 0) return Rational{};
  return ratio(a, Rational{b->denominator, b->numerator});
}

std::optional<Rational> complement(const std::optional<Rational>& a) {
  if (!a || a->numerator > a->denominator) return std::nullopt;
  return Rational{a->denominator - a->numerator, a->denominator};
}

std::optional<Rational> difference(const std::optional<Rational>& a, const std::optional<Rational>& b) {
  if (!a || !b) return std::nullopt;
  const Bits128 divisor = common_divisor(a->denominator, b->denominator);
  const auto first = checked_product(a->numerator, b->denominator / divisor);
  const auto second = checked_product(b->numerator, a->denominator / divisor);
  const auto denominator = checked_product(a->denominator, b->denominator / divisor);
  if (!first || !second || !denominator || *first < *second) return std::nullopt;
  return reduced(*first - *second, *denominator);
}

// In lowest terms a quotient is a square only if both of its parts are.
std::optional<Rational> root(const std::optional<Rational>& a) {
  if (!a) return std::nullopt;
  const auto numerator = root_of(a->numerator), denominator = root_of(a->denominator);
  return numerator && denominator ? std::optional(Rational{*numerator, *denominator}) : std::nullopt;
}

// Compares the whole parts, then the reciprocals of the fractions in the opposite order: nothing overflows.
std::strong_ordering compare(Rational a, Rational b) {
  while (true) {
    if (const auto order = a.numerator / a.denominator <=> b.numerator / b.denominator; order != 0) return order;
    const Bits128 rest_a = a.numerator % a.denominator, rest_b = b.numerator % b.denominator;
    if (rest_a == 0 || rest_b == 0) return (rest_a != 0) <=> (rest_b != 0);
    const Rational inverse_a{a.denominator, rest_a};
    a = {b.denominator, rest_b};
    b = inverse_a;
  }
}

Quotient to_quotient(const Rational& rational) {
  const Quotient as_integers{decimal_of(rational.numerator, 0), decimal_of(rational.denominator, 0)};
  Bits128 rest = rational.denominator, scaled = rational.numerator;
  int twos = 0, fives = 0;
  for (; rest % 2 == 0; ++twos) rest /= 2;
  for (; rest % 5 == 0; ++fives) rest /= 5;
  if (rest != 1) return as_integers;
  for (int i = twos; i != fives; i += i < fives ? 1 : -1) {  // the missing factors of 10^max(twos, fives)
    const auto next = checked_product(scaled, i < fives ? 2 : 5);
    if (!next) return as_integers;
    scaled = *next;
  }
  return {decimal_of(scaled, std::max(twos, fives))};
}

}  // namespace tradeoff::detail::numeric
