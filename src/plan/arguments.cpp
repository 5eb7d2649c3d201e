// SPDX-License-Identifier: Apache-2.0
#include "plan/arguments.h"

#include <string>

#include "tradeoff/error.h"

namespace tradeoff {

const Value* find_argument(const Call& call, std::string_view name) {
  for (const Argument& argument : call.arguments) {
    if (argument.name == name) return &argument.value;
  }
  return nullptr;
}

Number number_argument(const Call& call, Role role, std::string_view name) {
  const std::string place = call.name + ": " + std::string(name);
  if (const Value* value = find_argument(call, name)) {
    if (const auto* number = std::get_if<Number>(&value->content)) return *number;
    if (std::holds_alternative<Unknown>(value->content)) throw DomainError(place + " is '?', which only calibrate can answer");
    throw DomainError(place + " must be a number");
  }
  const Word* word = find_word(role, call.name);
  const Parameter* parameter = word == nullptr ? nullptr : find_parameter(*word, name);
  if (parameter == nullptr || parameter->fallback.empty()) throw DomainError(place + " is missing");
  return read_number(parameter->fallback);
}

std::int64_t count_argument(const Call& call, Role role, std::string_view name) {
  const Number number = number_argument(call, role, name);
  const std::string place = call.name + ": " + std::string(name) + " = " + number.text;
  if (number.value.lo < 0) throw DomainError(place + " must not be negative");
  if (number.value.hi > 0x1p53) throw TooLargeError(place + " is above 2^53");
  const auto count = static_cast<std::int64_t>(number.value.lo);
  if (static_cast<double>(count) != number.value.hi) throw DomainError(place + " must be an integer");
  return count;
}

}  // namespace tradeoff
