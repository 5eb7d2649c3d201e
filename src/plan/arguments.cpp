// SPDX-License-Identifier: Apache-2.0
#include "plan/arguments.h"

#include <algorithm>
#include <cmath>

#include "numeric/number_text.h"
#include "plan/number.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {

const Value* Arguments::find(std::string_view name) const {
  for (const Argument& argument : call_.arguments)
    if (argument.name == name) return &argument.value;
  return nullptr;
}

const Value& Arguments::value(std::string_view name) const {
  const Value* found = find(name);
  if (found == nullptr) throw DomainError(call_.name + ": " + std::string(name) + " is missing");
  return *found;
}

void Arguments::refuse(std::string_view name, const std::string& shown, std::string_view allowed) const {
  throw DomainError(call_.name + ": " + std::string(name) + " = " + shown + " is not allowed; it must be " + std::string(allowed));
}

const Parameter* Arguments::parameter(std::string_view name) const {
  for (const Role role : all_roles) {
    const Word* word = vocabulary_.find(role, call_.name);
    if (const Parameter* found = word != nullptr ? find_parameter(*word, name) : nullptr) return found;
  }
  return nullptr;
}

/// Whether no argument of another form is given.
bool Arguments::default_of_form(const Parameter& known) const {
  return std::all_of(call_.arguments.begin(), call_.arguments.end(), [&](const Argument& argument) {
    const Parameter* const given = parameter(argument.name);
    return given == nullptr || known.form == 0 || given->form == 0 || given->form == known.form;
  });
}

Number Arguments::fallback(std::string_view name) const {
  if (const Parameter* known = parameter(name); known != nullptr && !known->fallback.empty() && default_of_form(*known))
    if (const auto value = numeric::enclose_decimal(known->fallback)) return {std::string(known->fallback), *value};
  throw DomainError(call_.name + ": " + std::string(name) + " is missing");
}

Number Arguments::written(std::string_view name) const {
  const Value* found = find(name);
  if (found == nullptr) return fallback(name);
  if (const auto* number = std::get_if<Number>(&found->content)) return *number;
  if (std::holds_alternative<Unknown>(found->content))
    throw DomainError(call_.name + ": " + std::string(name) + " = ? can only be calibrated, not analysed");
  refuse(name, "that", "a number");
}

std::optional<numeric::Rational> Arguments::exact(std::string_view name) const { return exact_rational(written(name)); }

namespace {

/// The text for a range in an error: "above 0", "0 or above", "between 0 and 1".
std::string to_words(const Range& range) {
  const auto text = [](double value) { return to_string(numeric::exact_decimal(value)); };
  if (!std::isfinite(range.most)) return range.excludes_least ? "above " + text(range.least) : text(range.least) + " or above";
  if (!std::isfinite(range.least)) return "at most " + text(range.most);
  if (range.excludes_least) return "above " + text(range.least) + " and at most " + text(range.most);
  return "between " + text(range.least) + " and " + text(range.most);
}

}  // namespace

Interval Arguments::within(std::string_view name, const Range& range) const {
  const Number number = written(name);
  if (!std::isfinite(number.value.lo) || !std::isfinite(number.value.hi)) refuse(name, number.text, "a finite number");
  const bool enough = range.excludes_least ? number.value.lo > range.least : number.value.lo >= range.least;
  if (!(enough && number.value.hi <= range.most)) refuse(name, number.text, to_words(range));
  return number.value;
}

Interval Arguments::number(std::string_view name) const {
  const Parameter* known = parameter(name);
  return within(name, known != nullptr ? known->range : range::any);
}

std::uint64_t Arguments::whole(std::string_view name) const {
  const Parameter* known = parameter(name);
  if (known == nullptr || known->kind != Kind::integer) refuse(name, "that", "a whole number by the vocabulary");
  return count(name, static_cast<std::uint64_t>(known->range.least), static_cast<std::uint64_t>(known->range.most));
}

Interval Arguments::positive(std::string_view name) const { return within(name, range::positive); }

Interval Arguments::non_negative(std::string_view name) const { return within(name, range::non_negative); }

Interval Arguments::probability(std::string_view name) const { return within(name, range::probability); }

std::uint64_t Arguments::count(std::string_view name, std::uint64_t least, std::uint64_t most) const {
  const Number number = written(name);
  const double value = number.value.hi;
  if (value > static_cast<double>(most))
    throw TooLargeError(call_.name + ": " + std::string(name) + " = " + number.text + " is too large; at most " + std::to_string(most) +
                        " is supported");
  const bool whole = number.value.lo == number.value.hi && std::floor(value) == value;
  if (!whole || value < static_cast<double>(least)) refuse(name, number.text, "a whole number of at least " + std::to_string(least));
  return static_cast<std::uint64_t>(value);
}

std::string Arguments::word(std::string_view name) const {
  const Value& found = value(name);
  if (const auto* text = std::get_if<std::string>(&found.content)) return *text;
  refuse(name, "that", "a word or a string");
}

std::string_view Arguments::choice(std::string_view name) const {
  const Parameter* known = parameter(name);
  if (known == nullptr || known->kind != Kind::choice) refuse(name, "that", "a choice by the vocabulary");
  const Value* found = find(name);
  if (found == nullptr && !known->fallback.empty()) return known->fallback;
  const auto* text = std::get_if<std::string>(&value(name).content);
  const std::vector<std::string_view> choices = choices_of(*known);
  const auto chosen = text == nullptr ? choices.end() : std::find(choices.begin(), choices.end(), *text);
  if (chosen == choices.end()) refuse(name, text == nullptr ? "that" : *text, "one of " + std::string(known->choices));
  return *chosen;
}

namespace {

const std::vector<Value>* items_of(const Value& value) {
  if (const auto* list = std::get_if<List>(&value.content)) return &list->items;
  return nullptr;
}

}  // namespace

std::vector<Number> Arguments::numbers(std::string_view name) const {
  const auto* items = items_of(value(name));
  if (items == nullptr) refuse(name, "that", "a list of numbers [a, b, ...]");
  std::vector<Number> result;
  for (const Value& item : *items) {
    const auto* number = std::get_if<Number>(&item.content);
    if (number == nullptr) refuse(name, "entry " + std::to_string(result.size() + 1), "a number");
    result.push_back(*number);
  }
  return result;
}

std::vector<std::pair<Number, Number>> Arguments::pairs(std::string_view name) const {
  const auto* items = items_of(value(name));
  if (items == nullptr) refuse(name, "that", "a list of pairs [(a, b), ...]");
  std::vector<std::pair<Number, Number>> result;
  for (const Value& item : *items) {
    const auto* tuple = std::get_if<Tuple>(&item.content);
    const bool is_pair = tuple != nullptr && tuple->items.size() == 2 && std::holds_alternative<Number>(tuple->items[0].content) &&
                         std::holds_alternative<Number>(tuple->items[1].content);
    if (!is_pair) refuse(name, "entry " + std::to_string(result.size() + 1), "a pair of numbers (a, b)");
    result.emplace_back(std::get<Number>(tuple->items[0].content), std::get<Number>(tuple->items[1].content));
  }
  return result;
}

}  // namespace tradeoff::detail
