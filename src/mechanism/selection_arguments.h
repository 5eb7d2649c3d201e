// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "mechanism/words.h"
#include "numeric/rational.h"
#include "plan/arguments.h"

// What the words that choose one of several candidates share.
namespace tradeoff::detail {

inline constexpr Parameter utility_sensitivity_parameter{
    "sensitivity", Kind::number, "how far one record can move the utility of one candidate", range::non_negative, effect::riskier, "1"};
inline constexpr Parameter monotone_parameter{
    .name = "monotone",
    .kind = Kind::choice,
    .meaning = "whether a change of the data moves all utilities the same way: false (the default) or true",
    .optional = true,
    .choices = "false|true"};
inline constexpr std::string_view selection_sentence =
    "The candidates, and the rule that computes their utilities from the data, are public and do not depend on the data; only the chosen "
    "candidate is published. No choice is made between the first and the last answer of one sparse vector.";

/// How far two utilities move relative to each other: twice the sensitivity, or once if `monotone`. Refuses `monotone` where a record may
/// be replaced. [bounded-range-profile]
[[nodiscard]] Interval shift_of_utilities(const Arguments& arguments, const WordContext& context);
/// The same as an exact number, if it is one.
[[nodiscard]] std::optional<numeric::Rational> exact_shift_of_utilities(const Arguments& arguments);
[[nodiscard]] std::optional<numeric::Rational> product_of(const std::optional<numeric::Rational>& a,
                                                          const std::optional<numeric::Rational>& b);

}  // namespace tradeoff::detail
