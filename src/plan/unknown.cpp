// SPDX-License-Identifier: Apache-2.0
#include "plan/unknown.h"

#include <algorithm>
#include <vector>

#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

/// Calls `visit(value, call, argument, role)` for every value that is a `?`, in reading order; works on constant and on mutable plans.
template <class Visit>
class UnknownFinder {
 public:
  explicit UnknownFinder(Visit visit) : visit_(std::move(visit)) {}

  template <class SomePlan>
  void in_plan(SomePlan& plan, Role role = Role::source) {
    for (auto& line : plan.lines) {
      if (auto* call = std::get_if<Call>(&line.source)) {
        in_call(*call, role);
      } else {
        in_plan(std::get<Plan>(line.source));
      }
      for (auto& call : line.operators) in_call(call, Role::operation);
    }
  }

 private:
  template <class SomeCall>
  void in_call(SomeCall& call, Role role) {
    for (auto& argument : call.arguments) in_value(argument.value, call, argument, role);
  }

  template <class SomeValue>
  void in_value(SomeValue& value, const Call& call, const Argument& argument, Role role) {
    if (std::holds_alternative<Unknown>(value.content)) {
      visit_(value, call, argument, role);
    } else if (auto* tuple = std::get_if<Tuple>(&value.content)) {
      for (auto& item : tuple->items) in_value(item, call, argument, role);
    } else if (auto* list = std::get_if<List>(&value.content)) {
      for (auto& item : list->items) in_value(item, call, argument, role);
    } else if (auto* plan = std::get_if<Plan>(&value.content)) {
      in_plan(*plan, role_of_plan(call, argument, role));
    }
  }

  /// The role of the call that an argument holds.
  [[nodiscard]] static Role role_of_plan(const Call& call, const Argument& argument, Role role) {
    const Word* word = vocabulary().find(role, call.name);
    const Parameter* parameter = word == nullptr ? nullptr : find_parameter(*word, argument.name);
    if (parameter != nullptr && parameter->kind == Kind::tail_word) return Role::tail;
    return parameter != nullptr && parameter->kind == Kind::law_word ? Role::law : Role::source;
  }

  Visit visit_;
};

bool holds_unknown(const Call& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [](const Argument& argument) { return std::holds_alternative<Unknown>(argument.value.content); });
}

/// Calls `visit(source)` for every source that is a call, including those inside arguments; works on constant and on mutable plans.
template <class SomePlan, class Visit>
void for_each_source(SomePlan& plan, const Visit& visit);

template <class SomeValue, class Visit>
void for_each_source_in(SomeValue& value, const Visit& visit) {
  if (auto* tuple = std::get_if<Tuple>(&value.content)) {
    for (auto& item : tuple->items) for_each_source_in(item, visit);
  } else if (auto* list = std::get_if<List>(&value.content)) {
    for (auto& item : list->items) for_each_source_in(item, visit);
  } else if (auto* plan = std::get_if<Plan>(&value.content)) {
    for_each_source(*plan, visit);
  }
}

template <class SomePlan, class Visit>
void for_each_source(SomePlan& plan, const Visit& visit) {
  for (auto& line : plan.lines) {
    if (auto* call = std::get_if<Call>(&line.source)) {
      for (auto& argument : call->arguments) for_each_source_in(argument.value, visit);
      visit(*call);
    } else {
      for_each_source(std::get<Plan>(line.source), visit);
    }
  }
}

}  // namespace

const Call* find_unknown_source(const Plan& plan) {
  const Call* found = nullptr;
  for_each_source(plan, [&](const Call& call) {
    if (holds_unknown(call)) found = &call;
  });
  return found;
}

Plan replace_unknown_source(Plan plan, const Call& source) {
  for_each_source(plan, [&](Call& call) {
    if (holds_unknown(call)) call = source;
  });
  return plan;
}

std::size_t count_unknowns(const Plan& plan) {
  std::size_t unknowns = 0;
  UnknownFinder finder([&](const Value&, const Call&, const Argument&, Role) { ++unknowns; });
  finder.in_plan(plan);
  return unknowns;
}

UnknownPlace find_unknown(const Plan& plan) {
  std::vector<UnknownPlace> places;
  UnknownFinder finder([&](const Value& value, const Call& call, const Argument& argument, Role role) {
    places.push_back({role, call.name, argument.name, value.offset});
  });
  finder.in_plan(plan);
  if (places.empty()) throw ParseError("the plan has no '?': write one in place of the number to solve for", 0);
  if (places.size() > 1) throw ParseError("the plan has more than one '?'", places[1].offset);
  return places.front();
}

Plan substitute(Plan plan, const Number& number) {
  UnknownFinder finder([&](Value& value, const Call&, const Argument&, Role) { value.content = number; });
  finder.in_plan(plan);
  return plan;
}

}  // namespace tradeoff::detail
