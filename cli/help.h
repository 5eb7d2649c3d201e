// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "verb.h"

// Help texts, made from the table of verbs. No line is longer than 80 columns.
namespace tradeoff::detail::cli {

constexpr std::string_view plan_help = "the plan: its text, @file, or - for standard input";
constexpr std::string_view json_help = "answer in JSON";
constexpr std::string_view quiet_help = "print only the bound";

/// The verb of this name, or null.
[[nodiscard]] const Verb* find_verb(std::string_view name);

/// "unknown verb 'epsilom'; did you mean 'epsilon'? See tradeoff --help."
[[nodiscard]] std::string unknown_verb(std::string_view given);

/// The message with the list after its last "Known:" set in lines of at most 80 columns, indented by four; unchanged if it has no such
/// list.
[[nodiscard]] std::string with_wrapped_list(const std::string& message);

/// The list of all verbs, in groups.
[[nodiscard]] std::string help();
/// What a verb does, its options and its examples.
[[nodiscard]] std::string help_of(const Verb& verb);

/// The first example of a verb; empty if it has none.
[[nodiscard]] std::string example_of(const Verb& verb);

}  // namespace tradeoff::detail::cli
