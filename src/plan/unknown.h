// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

// The `?` of a plan, which calibrate is asked to find.
namespace tradeoff {

/// Where the `?` stands. In a list or a pair the parameter is the one that holds the list.
struct UnknownPlace {
  Role role;
  std::string call;
  std::string parameter;
  std::size_t offset = 0;
};

[[nodiscard]] std::size_t count_unknowns(const Plan& plan);

/// The one place. Throws ParseError if the plan holds no `?` or more than one.
[[nodiscard]] UnknownPlace find_unknown(const Plan& plan);

/// The source that holds the `?` in an argument of its own; null if an operator does, or a list.
[[nodiscard]] const Call* find_unknown_source(const Plan& plan);
/// The plan with another source in its place.
[[nodiscard]] Plan replace_unknown_source(Plan plan, const Call& source);

/// The plan with the number in the place of every `?`.
[[nodiscard]] Plan substitute(Plan plan, const Number& number);

}  // namespace tradeoff
