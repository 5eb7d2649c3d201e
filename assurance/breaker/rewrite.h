// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// Plans derived from plans: the plans that laws compare, and the reductions of a failing plan.
namespace tradeoff::detail::breaker {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr std::array<Direction, 2> both_directions{Direction::remove, Direction::add};

/// Every source and operator of the plan, nested ones included, after `edit` was applied.
[[nodiscard]] Plan edited(Plan plan, const std::function<void(Call&)>& edit);
/// The calls in the order in which `edited` visits them.
[[nodiscard]] std::vector<Call> calls(const Plan& plan);
[[nodiscard]] bool mentions(const Plan& plan, const std::vector<std::string>& names);

/// The argument's number, or null.
[[nodiscard]] Number* number(Call& call, const std::string& name);
[[nodiscard]] const Number* number(const Call& call, const std::string& name);
/// The product with a power of ten: exact for any number of digits.
[[nodiscard]] Number times_power_of_ten(const Number& number, int power);

[[nodiscard]] Call call_with(const std::string& name, const std::string& argument, const std::string& value);
/// `(plan) | operator`.
[[nodiscard]] Plan wrapped(const Plan& plan, const Call& operation);
[[nodiscard]] Plan joined(const Plan& first, const Plan& second);
[[nodiscard]] Plan part_of(const Plan& plan, std::size_t first, std::size_t last);
/// The number of runs if the last operator of a line is `repeat`; 1 otherwise.
[[nodiscard]] double repetitions(const Line& line);
[[nodiscard]] Line without_repetition(Line line);

/// Simpler plans, the largest reductions first: fewer lines, operators, parts and repetitions, rounder numbers.
[[nodiscard]] std::vector<Plan> simpler(const Plan& plan);

}  // namespace tradeoff::detail::breaker
