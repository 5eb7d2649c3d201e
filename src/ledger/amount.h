// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "numeric/rational.h"
#include "tradeoff/plan.h"

// Amounts are whole numbers of small units, so that sums are exact: costs are rounded up to them, caps down.
namespace tradeoff::detail::ledger {

using Units = std::int64_t;

inline constexpr int amount_places = 12;                        ///< an amount is a multiple of 1e-12
inline constexpr int slack_places = 18;                         ///< a slack is a multiple of 1e-18
inline constexpr Units most_units = 4'000'000'000'000'000'000;  ///< the sum of two amounts does not overflow

enum class Round { down, up };

/// The number in units of 10^-places; empty if it is negative, infinite or above `most_units`.
[[nodiscard]] std::optional<Units> to_units(double value, int places, Round round);
[[nodiscard]] std::optional<Units> to_units(const numeric::Decimal& value, int places, Round round);
[[nodiscard]] std::optional<Units> to_units(const numeric::Rational& value, int places, Round round);
/// Of the exact number as written.
[[nodiscard]] std::optional<Units> to_units(const Number& value, int places, Round round);

/// The exact decimal.
[[nodiscard]] std::string to_decimal(Units units, int places);

}  // namespace tradeoff::detail::ledger
