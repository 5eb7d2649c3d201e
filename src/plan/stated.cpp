// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <compare>

#include "mechanism/arguments.h"
#include "numeric/number_text.h"
#include "tradeoff/plan.h"

namespace tradeoff {
namespace {

/// Whether a <= b as exact numbers. Quotients that are not spelled alike count as unordered.
bool surely_at_most(const Number& a, const Number& b) {
  if (a.value.hi <= b.value.lo || a.text == b.text) return true;
  const auto first = numeric::read_decimal(a.text);
  const auto second = numeric::read_decimal(b.text);
  return first && second && numeric::compare(*first, *second) != std::strong_ordering::greater;
}

}  // namespace

std::vector<WrittenGuarantee> stated_guarantees(const Plan& plan) {
  if (plan.lines.size() != 1 || !plan.lines.front().operators.empty()) return {};
  const auto* call = std::get_if<Call>(&plan.lines.front().source);
  if (call == nullptr) return {};
  const Arguments arguments(*call);
  std::vector<WrittenGuarantee> stated;
  if (call->name == "dp") stated.push_back({arguments.written("epsilon"), arguments.written("delta")});
  if (call->name == "constraints")
    for (auto& [epsilon, delta] : arguments.pairs("points")) stated.push_back({epsilon, delta});
  return stated;
}

bool states(const Plan& plan, const Number& epsilon, const Number& delta) {
  for (const WrittenGuarantee& stated : stated_guarantees(plan))
    if (surely_at_most(stated.epsilon, epsilon) && surely_at_most(stated.delta, delta)) return true;
  return false;
}

double stated_epsilon(const Plan& plan, const Number& delta) {
  double least = HUGE_VAL;
  for (const WrittenGuarantee& stated : stated_guarantees(plan))
    if (surely_at_most(stated.delta, delta)) least = std::min(least, stated.epsilon.value.hi);
  return least;
}

}  // namespace tradeoff
