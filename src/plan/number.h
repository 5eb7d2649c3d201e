// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "numeric/number_text.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// The decimal at `offset` of a plan. Throws ParseError if the text is not a decimal.
[[nodiscard]] numeric::Decimal read_decimal_at(std::string_view text, std::size_t offset);

/// Converts a quotient to a number of a plan. Throws ParseError if its denominator is zero or if it is beyond the range of double.
[[nodiscard]] Number make_number(const numeric::Quotient& quotient, std::size_t offset);

}  // namespace tradeoff::detail
