// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "numeric/number_text.h"

// Exact arithmetic with rational numbers >= 0 of at most 128 bits. A result that needs more bits, and everything computed from it, is
// empty.
namespace tradeoff::detail::numeric {

__extension__ using Bits128 = unsigned __int128;

/// numerator/denominator in lowest terms; the denominator is positive.
struct Rational {
  Bits128 numerator = 0;
  Bits128 denominator = 1;
  friend bool operator==(const Rational&, const Rational&) = default;
};

/// The exact value; empty if it is negative or too long.
[[nodiscard]] std::optional<Rational> exact_rational(const Quotient& quotient);

[[nodiscard]] std::optional<Rational> sum(const std::optional<Rational>& a, const std::optional<Rational>& b);
[[nodiscard]] std::optional<Rational> product(const std::optional<Rational>& a, std::uint64_t times);
[[nodiscard]] std::optional<Rational> product(const std::optional<Rational>& a, const std::optional<Rational>& b);
/// a/b; empty if b is zero.
[[nodiscard]] std::optional<Rational> ratio(const std::optional<Rational>& a, const std::optional<Rational>& b);

/// 1 - a; empty if that is negative.
[[nodiscard]] std::optional<Rational> complement(const std::optional<Rational>& a);

/// a - b; empty if that is negative.
[[nodiscard]] std::optional<Rational> difference(const std::optional<Rational>& a, const std::optional<Rational>& b);

/// The square root; empty if it is irrational.
[[nodiscard]] std::optional<Rational> root(const std::optional<Rational>& a);

[[nodiscard]] std::strong_ordering compare(Rational a, Rational b);

/// A decimal where there is one of at most 128 bits, otherwise a quotient of two integers without a common divisor.
[[nodiscard]] Quotient to_quotient(const Rational& rational);

}  // namespace tradeoff::detail::numeric
