// SPDX-License-Identifier: Apache-2.0
#include <compare>

#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "plan/arguments.h"
#include "tradeoff/plan.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

bool surely_at_most(const Number& a, const Number& b) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return surely_at_most(a, b); });

  if (a.value.hi <= b.value.lo || a.text == b.text) return true;
  const auto first = numeric::read_decimal(a.text);
  const auto second = numeric::read_decimal(b.text);
  return first && second && numeric::compare(*first, *second) != std::strong_ordering::greater;
}

std::vector<WrittenGuarantee> detail::stated_guarantees(const Plan& plan, const Vocabulary& vocabulary) {
  if (plan.lines.size() != 1 || !plan.lines.front().operators.empty()) return {};
  const auto* call = std::get_if<Call>(&plan.lines.front().source);
  const Word* word = call == nullptr ? nullptr : vocabulary.find(Role::source, call->name);
  if (word == nullptr || word->guarantees == nullptr) return {};
  return word->guarantees(Arguments(*call, vocabulary));
}

}  // namespace tradeoff
