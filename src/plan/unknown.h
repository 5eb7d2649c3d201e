// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

// The `?` of a plan, which `calibrate` solves for.
namespace tradeoff::detail {

/// The position of the `?`. In a list or a pair, the parameter is the one that contains the list.
struct UnknownPlace {
  Role role;
  std::string call;
  std::string parameter;
  std::size_t offset = 0;
};

[[nodiscard]] std::size_t count_unknowns(const Plan& plan);

/// The only position. Throws ParseError if the plan contains no `?` or more than one.
[[nodiscard]] UnknownPlace find_unknown(const Plan& plan);

/// The source that has the `?` as one of its own arguments; null if the `?` is in an operator or a list.
[[nodiscard]] const Call* find_unknown_source(const Plan& plan);
/// The plan with another source in its place.
[[nodiscard]] Plan replace_unknown_source(Plan plan, const Call& source);

/// The plan with the number in place of every `?`.
[[nodiscard]] Plan substitute(Plan plan, const Number& number);

}  // namespace tradeoff::detail
