// SPDX-License-Identifier: Apache-2.0
#include "plan/assumed_poisson.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/vocabulary.h"

namespace tradeoff::detail {
namespace {

/// A positive whole number that is written as one; 0 otherwise.
std::uint64_t written_count(const Call& call, std::string_view name, std::uint64_t otherwise) {
  for (const Argument& argument : call.arguments) {
    if (argument.name != name) continue;
    const auto* number = std::get_if<Number>(&argument.value.content);
    const bool whole = number != nullptr && number->value.lo == number->value.hi && number->value.lo >= 1 &&
                       number->value.lo <= static_cast<double>(range::most_steps);
    const auto count = whole ? static_cast<std::uint64_t>(number->value.lo) : 0;
    return whole && static_cast<double>(count) == number->value.lo ? count : 0;
  }
  return otherwise;
}

Call call_of(std::string name, std::string argument, const std::string& number) {
  return {std::move(name), {{std::move(argument), {read_number(number)}}}};
}

/// The sampler as Poisson steps; empty if its numbers are not known.
std::vector<Call> as_poisson(const Call& call) {
  if (call.name == "poisson") {
    Call plain = call;
    std::erase_if(plain.arguments, [](const Argument& one) { return one.name == "of" || one.name == "of_is" || one.name == "at_most"; });
    return {plain};
  }
  const bool shuffled = call.name == "shuffle";
  const std::uint64_t steps = written_count(call, shuffled ? "batches" : "steps", 0), passes = written_count(call, "passes", 1);
  const std::uint64_t times = shuffled ? 1 : written_count(call, "times", 1);
  if (steps == 0 || passes == 0 || times == 0 || times > steps || passes > range::most_steps / steps) return {};
  return {call_of("poisson", "rate", std::to_string(times) + "/" + std::to_string(steps)),
          call_of("repeat", "times", std::to_string(steps * passes))};
}

bool is_other_sampler(const Call& call) {
  const bool capped = std::any_of(call.arguments.begin(), call.arguments.end(), [](const Argument& one) { return one.name == "at_most"; });
  return call.name == "shuffle" || call.name == "allocate" || (call.name == "poisson" && capped);
}

}  // namespace

std::optional<Plan> assumed_poisson(const Plan& plan) {
  Plan assumed = plan;
  bool changed = false;
  for (Line& line : assumed.lines) {
    if (auto* inner = std::get_if<Plan>(&line.source))
      if (std::optional<Plan> other = assumed_poisson(*inner)) {
        *inner = std::move(*other);
        changed = true;
      }
    std::vector<Call> operators;
    for (Call& call : line.operators) {
      if (!is_other_sampler(call)) {
        operators.push_back(std::move(call));
        continue;
      }
      const std::vector<Call> steps = as_poisson(call);
      if (steps.empty()) return std::nullopt;
      operators.insert(operators.end(), steps.begin(), steps.end());
      changed = true;
    }
    line.operators = std::move(operators);
  }
  if (!changed) return std::nullopt;
  return assumed;
}

}  // namespace tradeoff::detail
