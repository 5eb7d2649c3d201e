// SPDX-License-Identifier: Apache-2.0
#include "ask/request.h"

#include <array>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/did_you_mean.h"
#include "plan/neighbours.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::size_t shown_limit = 40;  // a message quotes only the start of a long value

std::string shown(const std::string& text) { return text.size() <= shown_limit ? text : text.substr(0, shown_limit) + "..."; }

/// The field as it was given, for error messages.
struct Given {
  std::string_view name;
  const std::string& text;
  std::size_t offset;
  bool is_string;

  [[noreturn]] void refuse(const char* kind, const std::string& why) const {
    throw RequestError(kind, std::string(name) + " = " + shown(text) + " " + why, std::string(name), offset);
  }
};

/// The value that a word means; `words` lists the words with their values.
template <typename Value, std::size_t count>
Value read_choice(const Given& given, const std::array<std::pair<std::string_view, Value>, count>& words) {
  std::string known;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : words) {
    if (given.is_string && given.text == name) return value;
    names.push_back(name);
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  given.refuse("parse", "is not allowed; it must be one of " + known + did_you_mean(given.text, names));
}

constexpr std::array<std::pair<std::string_view, Direction>, 3> direction_words = {
    {{"worst", Direction::worst}, {"remove", Direction::remove}, {"add", Direction::add}}};

/// What to write in place of a number in another notation: 0.05 for 5%.
std::string notation_advice(const std::string& text) {
  if (text.find_first_of("%^,") == std::string::npos) return {};
  if (auto hundredths = text.ends_with('%') ? numeric::read_decimal(text.substr(0, text.size() - 1)) : std::nullopt) {
    hundredths->exponent -= hundredths->is_zero() ? 0 : 2;
    return "; write " + to_string(*hundredths);
  }
  return "; write 0.00001 or 1e-5";
}

Number read_number_of(const Given& given, const std::string& text, const Range& range) {
  const Given item{given.name, text, given.offset, given.is_string};
  const auto quotient = numeric::read_quotient(text);
  if (!quotient) item.refuse("parse", "is not a decimal number" + notation_advice(text));
  const Interval value = numeric::enclose(*quotient);
  if (!(std::isfinite(value.lo) && std::isfinite(value.hi))) item.refuse("parse", "is beyond 1.7976931348623157e308");
  if (!range.holds(value)) given.refuse("domain", "is not allowed; it must be " + std::string(range.allowed));
  return {text, value};
}

std::vector<Number> read_values(const Given& given, const Field& field) {
  std::vector<Number> values;
  switch (field.kind) {
    case Kind::number_or_infinity:
      if (given.text == "inf") return {{given.text, Interval::exactly(infinity)}};
      [[fallthrough]];
    case Kind::number:
      return {read_number_of(given, given.text, field.range)};
    case Kind::numbers:
      for (const std::string& item : split_at_commas(given.text)) values.push_back(read_number_of(given, item, field.range));
      break;
    case Kind::plan:
      if (!given.is_string)
        throw RequestError("parse", "field '" + std::string(given.name) + "' must be a string", std::string(given.name), given.offset);
      break;
    case Kind::words:
    case Kind::choice:
      break;
  }
  return values;
}

}  // namespace

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t from = 0, comma = 0; comma != std::string_view::npos; from = comma + 1) {
    comma = text.find(',', from);
    std::string item(text.substr(from, comma == std::string_view::npos ? comma : comma - from));
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    items.push_back(std::move(item));
  }
  return items;
}

void Request::take(std::string_view name, std::string text, std::size_t offset, bool is_string) {
  const Field* const field = question_->find_field(name);
  if (field == nullptr) refuse_unknown(name, offset);
  const Given given{field->name, text, offset, is_string};
  std::vector<Number> values = read_values(given, *field);
  if (name == "neighbours") neighbours_ = read_choice(given, neighbours_words);
  if (name == "direction") direction_ = read_choice(given, direction_words);
  if (name == "relative") tolerance_.relative = values.front().value.hi;
  arguments_.push_back({field, std::move(text), offset, std::move(values)});
}

/// An unknown field is an error: a misspelt field must not be ignored in favour of a default.
void Request::refuse_unknown(std::string_view name, std::size_t offset) const {
  std::vector<std::string_view> names = {"id", "ask"};
  for (const std::span<const Field> some : {common_fields(), question_->fields})
    for (const Field& field : some) names.push_back(field.name);
  const std::string start(name.substr(0, shown_limit));
  throw RequestError("parse", "ask '" + std::string(question_->name) + "' has no field '" + start + "'" + did_you_mean(name, names), start,
                     offset);
}

void Request::complete() const {
  for (const std::span<const Field> some : {question_->fields, common_fields()})
    for (const Field& field : some)
      if (field.required) static_cast<void>(given(field.name));
}

const Request::Argument* Request::find(std::string_view name) const {
  for (const Argument& argument : arguments_)
    if (argument.field->name == name) return &argument;
  return nullptr;
}

const Request::Argument& Request::given(std::string_view name) const {
  if (const Argument* found = find(name)) return *found;
  throw RequestError("parse", "field '" + std::string(name) + "' is missing", std::string(name), 0);
}

void Request::refuse(std::string_view name, std::string_view allowed) const {
  const Argument& argument = given(name);
  Given{argument.field->name, argument.text, argument.offset, true}.refuse("domain", "is not allowed; it must be " + std::string(allowed));
}

void Request::require_both_directions(std::string_view why) const {
  if (direction_ != Direction::worst) refuse("direction", "worst: " + std::string(why));
}

std::string Request::shown(std::string_view name) const {
  const std::string& written = text(name);
  const bool long_mantissa = written.find_first_of("eE") != std::string::npos && written.find_first_not_of("0123456789") > 1;
  const auto decimal = long_mantissa ? numeric::read_decimal(written) : std::nullopt;
  return decimal ? to_string(*decimal) : written;
}

std::vector<std::string> Request::words(std::string_view name) const { return split_at_commas(text(name)); }

std::shared_ptr<const Curve> Request::curve() const { return curves_->find(plan_text(), neighbours(), tolerance_); }

std::shared_ptr<const Curve> Request::curve_of(std::string_view name) const {
  try {
    return curves_->find(text(name), neighbours_of(name), tolerance_);
  } catch (const ParseError& error) {
    throw RequestError("parse", std::string(name) + ": " + error.what(), std::string(name), error.offset());
  }
}

Neighbours Request::neighbours_of(std::string_view plan_field) const {
  if (neighbours_ != Neighbours::unstated || direction_ == Direction::worst) return neighbours_;
  const Neighbours fixed = tradeoff::neighbours_of(parse(text(plan_field)));
  return fixed == Neighbours::unstated ? Neighbours::add_remove : fixed;
}

}  // namespace tradeoff::detail::ask
