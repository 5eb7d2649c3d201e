// SPDX-License-Identifier: Apache-2.0
#include "rewrite.h"

#include <algorithm>
#include <cmath>

#include "tradeoff/error.h"
#include "trial.h"

namespace tradeoff::detail::breaker {
namespace {

void edit_plan(Plan& plan, const std::function<void(Call&)>& edit);

void edit_value(Value& value, const std::function<void(Call&)>& edit) {
  if (auto* plan = std::get_if<Plan>(&value.content)) edit_plan(*plan, edit);
  if (auto* tuple = std::get_if<Tuple>(&value.content))
    for (Value& item : tuple->items) edit_value(item, edit);
  if (auto* list = std::get_if<List>(&value.content))
    for (Value& item : list->items) edit_value(item, edit);
}

void edit_call(Call& call, const std::function<void(Call&)>& edit) {
  for (Argument& argument : call.arguments) edit_value(argument.value, edit);
  edit(call);
}

void edit_plan(Plan& plan, const std::function<void(Call&)>& edit) {
  for (Line& line : plan.lines) {
    if (auto* inner = std::get_if<Plan>(&line.source))
      edit_plan(*inner, edit);
    else
      edit_call(std::get<Call>(line.source), edit);
    for (Call& operation : line.operators) edit_call(operation, edit);
  }
}

/// Every number of a value, lists and tuples included.
void edit_numbers(Value& value, const std::function<void(Number&)>& edit) {
  if (auto* number = std::get_if<Number>(&value.content)) edit(*number);
  if (auto* tuple = std::get_if<Tuple>(&value.content))
    for (Value& item : tuple->items) edit_numbers(item, edit);
  if (auto* list = std::get_if<List>(&value.content))
    for (Value& item : list->items) edit_numbers(item, edit);
}

std::size_t number_count(const Plan& plan) {
  std::size_t count = 0;
  (void)edited(plan, [&](Call& call) {
    for (Argument& argument : call.arguments) edit_numbers(argument.value, [&](Number&) { ++count; });
  });
  return count;
}

Plan with_number(const Plan& plan, std::size_t which, const std::function<Number(const Number&)>& change) {
  std::size_t at = 0;
  return edited(plan, [&](Call& call) {
    for (Argument& argument : call.arguments)
      edit_numbers(argument.value, [&](Number& number) {
        if (at++ == which) number = change(number);
      });
  });
}

Number short_number(double value, int digits) {
  std::string text(40, ' ');
  text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.*g", digits, value)));
  return read_number(text);
}

void add_simpler_lines(const Plan& plan, std::vector<Plan>& found) {
  for (std::size_t i = 0; i < plan.lines.size(); ++i) {
    const auto with_line = [&](Line line) {
      Plan changed = plan;
      changed.lines[i] = std::move(line);
      return changed;
    };
    const Line& line = plan.lines[i];
    if (plan.lines.size() > 1) {
      Plan fewer = plan;
      fewer.lines.erase(fewer.lines.begin() + static_cast<std::ptrdiff_t>(i));
      found.push_back(std::move(fewer));
    }
    if (const auto* inner = std::get_if<Plan>(&line.source)) {
      if (line.operators.empty()) {
        Plan flat = part_of(plan, 0, i);
        found.push_back(joined(joined(flat, *inner), part_of(plan, i + 1, plan.lines.size())));
      }
      for (Plan& smaller : simpler(*inner)) found.push_back(with_line({std::move(smaller), line.operators}));
    }
    for (std::size_t k = 0; k < line.operators.size(); ++k) {
      Line shorter = line;
      shorter.operators.erase(shorter.operators.begin() + static_cast<std::ptrdiff_t>(k));
      found.push_back(with_line(std::move(shorter)));
    }
    const auto* source = std::get_if<Call>(&line.source);
    if (source == nullptr) continue;
    for (std::size_t a = 0; a < source->arguments.size(); ++a) {
      const auto* list = std::get_if<List>(&source->arguments[a].value.content);
      if (list == nullptr || list->items.size() < 2) continue;
      for (std::size_t k = 0; k < list->items.size(); ++k) {
        Call shorter = *source;
        auto& items = std::get<List>(shorter.arguments[a].value.content).items;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(k));
        found.push_back(with_line({std::move(shorter), line.operators}));
        const Value& item = list->items[k];  // one of several sources by itself
        const Value& last = std::holds_alternative<Tuple>(item.content) ? std::get<Tuple>(item.content).items.back() : item;
        if (const auto* inner = std::get_if<Plan>(&last.content)) found.push_back(with_line({*inner, line.operators}));
      }
    }
  }
}

}  // namespace

Plan edited(Plan plan, const std::function<void(Call&)>& edit) {
  edit_plan(plan, edit);
  return plan;
}

std::vector<Call> calls(const Plan& plan) {
  std::vector<Call> all;
  (void)edited(plan, [&](const Call& call) { all.push_back(call); });
  return all;
}

bool mentions(const Plan& plan, const std::vector<std::string>& names) {
  const std::vector<Call> all = calls(plan);
  return std::any_of(all.begin(), all.end(),
                     [&](const Call& call) { return std::find(names.begin(), names.end(), call.name) != names.end(); });
}

Number* number(Call& call, const std::string& name) {
  for (Argument& argument : call.arguments)
    if (argument.name == name) return std::get_if<Number>(&argument.value.content);
  return nullptr;
}

const Number* number(const Call& call, const std::string& name) { return number(const_cast<Call&>(call), name); }

Number times_power_of_ten(const Number& number, int power) {
  const auto slash = number.text.find('/');
  std::string numerator = number.text.substr(0, slash);
  const auto e = numerator.find_first_of("eE");
  const int exponent = e == std::string::npos ? 0 : std::stoi(numerator.substr(e + 1));
  numerator = numerator.substr(0, e) + "e" + std::to_string(exponent + power);
  return read_number(slash == std::string::npos ? numerator : numerator + number.text.substr(slash));
}

Call call_with(const std::string& name, const std::string& argument, const std::string& value) {
  Call call;
  call.name = name;
  if (!argument.empty()) call.arguments.push_back({argument, Value{read_number(value)}});
  return call;
}

Plan wrapped(const Plan& plan, const Call& operation) {
  Line line;
  line.source = plan;
  line.operators.push_back(operation);
  Plan whole;
  whole.lines.push_back(std::move(line));
  return whole;
}

Plan joined(const Plan& first, const Plan& second) {
  Plan whole = first;
  whole.lines.insert(whole.lines.end(), second.lines.begin(), second.lines.end());
  return whole;
}

Plan part_of(const Plan& plan, std::size_t first, std::size_t last) {
  Plan part;
  part.lines.assign(plan.lines.begin() + static_cast<std::ptrdiff_t>(first), plan.lines.begin() + static_cast<std::ptrdiff_t>(last));
  return part;
}

double repetitions(const Line& line) {
  if (line.operators.empty() || line.operators.back().name != "repeat") return 1;
  const Number* times = number(line.operators.back(), "times");
  return times == nullptr ? 1 : times->value.lo;
}

Line without_repetition(Line line) {
  if (!line.operators.empty() && line.operators.back().name == "repeat") line.operators.pop_back();
  return line;
}

std::vector<Plan> simpler(const Plan& plan) {
  std::vector<Plan> found;
  add_simpler_lines(plan, found);
  const std::size_t numbers = number_count(plan);
  for (std::size_t which = 0; which < numbers; ++which) {
    Number before;
    (void)with_number(plan, which, [&](const Number& number) { return before = number; });
    const double value = before.value.hi;
    const auto try_number = [&](const Number& after) {
      if (after.text.size() < before.text.size() || (value > 8 && after.value.hi <= value / 2))
        found.push_back(with_number(plan, which, [&](const Number&) { return after; }));
    };
    if (value > 8 && std::floor(value) == value) try_number(exact_number(std::floor(value / 4)));
    if (value > 8 && std::floor(value) == value) try_number(exact_number(std::floor(value / 2)));
    for (const int digits : {1, 2, 3}) try_number(short_number(value, digits));
  }
  return found;
}

}  // namespace tradeoff::detail::breaker
