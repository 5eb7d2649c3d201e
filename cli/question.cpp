// SPDX-License-Identifier: Apache-2.0
#include "question.h"

#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include "nearest.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

constexpr std::size_t shown_limit = 40;  // a message quotes a value, not a megabyte of it

std::string shown(const std::string& text) { return text.size() <= shown_limit ? text : text.substr(0, shown_limit) + "..."; }

/// The value that a word stands for; the words come with the values they mean.
template <typename Value, std::size_t count>
Value word(const Request::Field& field, const std::array<std::pair<std::string_view, Value>, count>& words) {
  std::string known;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : words) {
    if (field.is_string && field.text == name) return value;
    names.push_back(name);
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw RequestError(
      "parse", field.name + " = " + shown(field.text) + " is not allowed; it must be one of " + known + did_you_mean(field.text, names),
      field.name, field.offset);
}

constexpr std::array<std::pair<std::string_view, Neighbours>, 2> neighbours_words = {
    {{"add-remove", Neighbours::add_remove}, {"replace-one", Neighbours::replace_one}}};
constexpr std::array<std::pair<std::string_view, Direction>, 3> direction_words = {
    {{"worst", Direction::worst}, {"remove", Direction::remove}, {"add", Direction::add}}};

}  // namespace

Question::Question(const Request& request, CurveCache& curves) : request_(request), curves_(curves) {
  if (const auto* given = request.find("neighbours")) neighbours_ = word(*given, neighbours_words);
  if (const auto* given = request.find("direction")) direction_ = word(*given, direction_words);
  if (has("relative")) {
    tolerance_.relative = number("relative").hi;
    if (!(tolerance_.relative > 0 && tolerance_.relative <= 1)) refuse("relative", "above 0 and at most 1");
  }
}

const Request::Field& Question::field(std::string_view name) const {
  if (const auto* found = request_.find(name)) return *found;
  throw RequestError("parse", "field '" + std::string(name) + "' is missing", std::string(name), 0);
}

void Question::refuse(std::string_view name, std::string_view allowed) const {
  const auto& given = field(name);
  throw RequestError("domain", given.name + " = " + shown(given.text) + " is not allowed; it must be " + std::string(allowed), given.name,
                     given.offset);
}

void Question::require_both_directions(std::string_view why) const {
  if (direction_ != Direction::worst) refuse("direction", "worst: " + std::string(why));
}

namespace {

Interval read_field_number(const Request::Field& given, const std::string& text) {
  const auto quotient = numeric::read_quotient(text);
  if (!quotient) throw RequestError("parse", given.name + " = " + shown(text) + " is not a decimal number", given.name, given.offset);
  const Interval value = numeric::enclose(*quotient);
  if (!(std::isfinite(value.lo) && std::isfinite(value.hi))) {
    throw RequestError("parse", given.name + " = " + shown(text) + " is beyond 1.7976931348623157e308", given.name, given.offset);
  }
  return value;
}

}  // namespace

Interval Question::number(std::string_view name) const {
  const auto& given = field(name);
  return read_field_number(given, given.text);
}

std::vector<Number> Question::numbers(std::string_view name) const {
  const auto& given = field(name);
  std::vector<Number> values;
  std::istringstream items(given.text);
  for (std::string item; std::getline(items, item, ',');) {
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    values.push_back({item, read_field_number(given, item)});
  }
  if (values.empty()) refuse(name, "numbers with commas in between");
  return values;
}

Interval Question::at_least_zero(std::string_view name) const {
  const Interval value = number(name);
  if (!(value.lo >= 0)) refuse(name, "at least 0");
  return value;
}

Interval Question::probability(std::string_view name) const {
  const Interval value = number(name);
  if (!(value.lo >= 0 && value.hi <= 1)) refuse(name, "between 0 and 1");
  return value;
}

Interval Question::inner_probability(std::string_view name) const {
  const Interval value = number(name);
  if (!(value.lo > 0 && value.hi < 1)) refuse(name, "strictly between 0 and 1");
  return value;
}

Interval Question::number_or_infinity(std::string_view name) const {
  if (field(name).text == "inf") return Interval::exactly(infinity);
  return number(name);
}

const std::string& Question::plan_in(std::string_view name) const {
  const auto& given = field(name);
  if (!given.is_string) throw RequestError("parse", "field '" + given.name + "' must be a string", given.name, given.offset);
  return given.text;
}

const std::string& Question::plan_text() const { return plan_in("plan"); }

std::shared_ptr<const Curve> Question::curve_of(std::string_view name) const {
  try {
    return curves_.find(plan_in(name), neighbours_of(name), tolerance_);
  } catch (const ParseError& error) {
    throw RequestError("parse", std::string(name) + ": " + error.what(), std::string(name), error.offset());
  }
}

Neighbours Question::neighbours_of(std::string_view plan_field) const {
  if (neighbours_ != Neighbours::unstated || direction_ == Direction::worst) return neighbours_;
  const Neighbours fixed = tradeoff::neighbours_of(parse(plan_in(plan_field)));
  return fixed == Neighbours::unstated ? Neighbours::add_remove : fixed;
}

std::shared_ptr<const Curve> Question::curve() const { return curves_.find(plan_text(), neighbours(), tolerance_); }

}  // namespace tradeoff::cli
