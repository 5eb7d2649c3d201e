// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string_view>

#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// The decimal at `offset` of a plan. Throws ParseError if the text is not a decimal.
[[nodiscard]] numeric::Decimal read_decimal_at(std::string_view text, std::size_t offset);

/// Converts a quotient to a number of a plan. Throws ParseError if its denominator is zero or if it is beyond the range of double.
[[nodiscard]] Number make_number(const numeric::Quotient& quotient, std::size_t offset);

/// The exact value; empty if it is negative or too long.
[[nodiscard]] std::optional<numeric::Rational> exact_rational(const Number& number);

/// The order of the exact values; empty if it cannot be decided.
[[nodiscard]] std::optional<std::strong_ordering> exact_order(const Number& a, const Number& b);

}  // namespace tradeoff::detail
