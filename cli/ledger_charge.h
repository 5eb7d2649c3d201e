// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"
#include "verb.h"

namespace tradeoff::detail::cli {

inline constexpr const char* default_store = "sqlite:tradeoff-ledger.db";

/// Reads the number of an option. Throws DomainError that names it.
[[nodiscard]] Number read_ledger_number(std::string_view name, const std::string& text);

/// The names in a list that is separated by commas.
[[nodiscard]] std::vector<std::string> names_in(const std::string& list);

/// The budget for noise that is about to be drawn: --ledger, --account and --key of `release` and `train`. `charge` reserves the plan as
/// drawn and uses up the token, so that the caller may draw once; it does nothing if no ledger is named. Throws BudgetError without budget,
/// KeyError if the noise of this key was drawn before, DomainError if the account has other neighbours. Returns the receipt as JSON, empty
/// without a ledger.
[[nodiscard]] std::string charge_ledger(const Options& options, const char* verb, const std::string& drawn_plan, Neighbours neighbours);

/// Whether --ledger is given. Throws DomainError if one of its partners is missing, or given without it.
[[nodiscard]] bool names_ledger(const Options& options, const char* verb);

}  // namespace tradeoff::detail::cli
