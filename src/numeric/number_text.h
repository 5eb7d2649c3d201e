// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tradeoff/interval.h"

// Numbers as text, without loss: the exact decimal is read, and printed decimals are rounded to the requested side.
namespace tradeoff::detail::numeric {

/// An exact decimal, +-digits * 10^exponent. Canonical: no leading or trailing zero digits; zero is {false, "0", 0}.
struct Decimal {
  bool negative = false;
  std::string digits = "0";
  std::int64_t exponent = 0;

  [[nodiscard]] bool is_zero() const { return digits == "0"; }
  [[nodiscard]] bool is_integer() const { return exponent >= 0; }
  /// The value lies in [10^(magnitude-1), 10^magnitude) if it is positive.
  [[nodiscard]] std::int64_t magnitude() const { return static_cast<std::int64_t>(digits.size()) + exponent; }
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// A decimal or a quotient of two, as plans write them: 256/60000.
struct Quotient {
  Decimal numerator;
  Decimal denominator = {false, "1", 0};
  friend bool operator==(const Quotient&, const Quotient&) = default;
};

/// A larger written exponent is refused: no double is near, and sizes derived from it stay far from overflow.
inline constexpr std::int64_t largest_magnitude = 999'999'999;

/// Reads [sign] digits [. digits] [e [sign] digits], the whole text; `.5`, `5.` and a leading `+` are allowed. Empty for any other text
/// (spaces, separators, hexadecimal, inf, nan) and for magnitudes beyond `largest_magnitude`.
[[nodiscard]] std::optional<Decimal> read_decimal(std::string_view text);
/// Reads `a` or `a/b`, without spaces; empty if b is zero.
[[nodiscard]] std::optional<Quotient> read_quotient(std::string_view text);

/// The canonical spelling: plain from 1e-4 up to 1e21, otherwise as in 1.5e-7. Equal numbers have equal spellings. Valid JSON.
[[nodiscard]] std::string to_string(const Decimal& decimal);
[[nodiscard]] std::string to_string(const Quotient& quotient);

/// The order of the exact values.
[[nodiscard]] std::strong_ordering compare(const Decimal& a, const Decimal& b);

/// The decimal expansion of a finite double, all digits.
[[nodiscard]] Decimal exact_decimal(double value);

/// The smallest interval of doubles around the exact value: a point if it is a double, otherwise two neighbours.
/// Beyond the largest double the upper end is infinite.
[[nodiscard]] Interval enclose(const Decimal& decimal);
/// Encloses the exact quotient, by outward division.
[[nodiscard]] Interval enclose(const Quotient& quotient);
/// `read_decimal`, then `enclose`.
[[nodiscard]] std::optional<Interval> enclose_decimal(std::string_view text);

/// The largest decimal of at most `digits` significant digits that is <= value; "-inf" or "inf" for infinities. With digits = 0: a decimal
/// <= value, as short as possible, that reads back as exactly this double.
[[nodiscard]] std::string to_text_below(double value, int digits = 0);
/// The same from above: the smallest decimal that is >= value.
[[nodiscard]] std::string to_text_above(double value, int digits = 0);

}  // namespace tradeoff::detail::numeric
