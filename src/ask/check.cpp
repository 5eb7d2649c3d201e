// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"
#include "report/exact_numbers.h"
#include "tradeoff/targets.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 2> check_fields = {{
    {"epsilon", "the budget's epsilon", Kind::number, at_least_zero, true},
    {"delta", "the budget's delta", Kind::number, probability, true},
}};

struct BudgetVerdict {
  const char* word;
  const char* sentence;
  Outcome outcome;
};

BudgetVerdict verdict_of(Met within) {
  if (within == Met::yes) return {"within", "certainly within the budget", Outcome::answered};
  if (within == Met::no) return {"exceeded", "certainly not within the budget", Outcome::no};
  return {"undecided", "undecided", Outcome::undecided};
}

Answer answer_check(const Request& request) {
  request.require_both_directions("a budget binds in both directions");
  const Number epsilon = request.number("epsilon"), allowed = request.number("delta");
  const auto curve = request.curve();
  const auto [within, delta] = check(*curve, epsilon, allowed);
  const BudgetVerdict verdict = verdict_of(within);
  report::Claim claim{"delta", delta, report::SafeEnd::hi, "at epsilon = " + epsilon.text, report::log10_if_tiny(delta)};
  claim.exact = report::exact_delta(request.plan(), epsilon, Direction::worst, delta);
  return {[=](report::JsonWriter& out) {
            out.begin_object().key("verdict").text(verdict.word).key("delta").interval(claim.value, claim.log10).end_object();
          },
          [=](const report::Style& style) { return std::string(verdict.sentence) + (style.quiet ? "\n" : ": " + to_text(claim, style)); },
          curve,
          {},
          verdict.outcome};
}

}  // namespace

constinit const Question check_question{.name = "check",
                                        .meaning = "whether the plan is certainly within a budget (epsilon, delta)",
                                        .fields = check_fields,
                                        .answer = answer_check};

}  // namespace tradeoff::detail::ask
