// SPDX-License-Identifier: Apache-2.0
#include "ledger/canonical.h"

#include <cstddef>
#include <variant>

#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "plan/vocabulary.h"

namespace tradeoff::detail::ledger {
namespace {

void simplify(Plan& plan);

std::string spelling_of(const std::string& number) {
  const auto quotient = numeric::read_quotient(number);
  const auto exact = quotient ? numeric::exact_rational(*quotient) : std::nullopt;
  return exact ? numeric::to_string(numeric::to_quotient(*exact)) : number;
}

void simplify(Value& value) {
  if (auto* number = std::get_if<Number>(&value.content)) number->text = spelling_of(number->text);
  if (auto* plan = std::get_if<Plan>(&value.content)) simplify(*plan);
  if (auto* tuple = std::get_if<Tuple>(&value.content))
    for (Value& item : tuple->items) simplify(item);
  if (auto* list = std::get_if<List>(&value.content))
    for (Value& item : list->items) simplify(item);
}

void simplify(Call& call, Role role) {
  for (Argument& one : call.arguments) simplify(one.value);
  const Word* word = vocabulary().find(role, call.name);
  if (word == nullptr) return;
  for (std::size_t i = call.arguments.size(); i-- > 0;) {
    const Parameter* parameter = find_parameter(*word, call.arguments[i].name);
    const auto* number = std::get_if<Number>(&call.arguments[i].value.content);
    if (parameter == nullptr || number == nullptr || parameter->fallback.empty()) continue;
    Call without = call;
    without.arguments.erase(without.arguments.begin() + static_cast<std::ptrdiff_t>(i));
    if (number->text == spelling_of(std::string(parameter->fallback)) && default_holds(*word, without, *parameter))
      call = std::move(without);
  }
}

bool runs_once(const Call& operation) {
  const auto* times =
      operation.name == "repeat" && operation.arguments.size() == 1 ? std::get_if<Number>(&operation.arguments[0].value.content) : nullptr;
  return times != nullptr && times->text == "1";
}

void simplify(Line& line) {
  if (auto* call = std::get_if<Call>(&line.source)) simplify(*call, Role::source);
  for (Call& operation : line.operators) simplify(operation, Role::operation);
  std::erase_if(line.operators, runs_once);
  auto* inner = std::get_if<Plan>(&line.source);
  if (inner == nullptr) return;
  simplify(*inner);
  if (inner->lines.size() != 1) return;
  Line only = std::move(inner->lines[0]);  // `(a | b) | c` is `a | b | c`
  only.operators.insert(only.operators.end(), line.operators.begin(), line.operators.end());
  line = std::move(only);
}

void simplify(Plan& plan) {
  for (Line& line : plan.lines) simplify(line);
}

}  // namespace

std::string canonical_text(const Plan& plan) {
  Plan simple = plan;
  simplify(simple);
  return to_string(simple);
}

}  // namespace tradeoff::detail::ledger
