// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "ask/request.h"
#include "report/exact_numbers.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> epsilon_fields = {{{"delta", "a probability", Kind::number, probability, true}}};

Interval value_of_epsilon(const Curve& curve, Level delta, Direction direction) { return curve.epsilon_at(delta, direction); }

Answer answer_epsilon(const Request& request) {
  const auto curve = request.curve();
  const Number delta = request.number("delta");
  const Interval epsilon = value_of_epsilon(*curve, delta, request.direction());
  report::Claim claim{"epsilon", epsilon, *request.question().safe_end, "at delta = " + request.shown("delta"),
                      report::log10_if_tiny(epsilon)};
  claim.instead = "ask at a larger delta";
  if (const auto pure = curve->pure_epsilon(); pure && delta.value.hi == 0) claim.exact = pure->text;  // [largest-loss]
  if (claim.exact.empty()) claim.exact = report::exact_epsilon(request.plan(), delta, epsilon);
  return answer_claim(std::move(claim), curve);
}

}  // namespace

constinit const Question epsilon_question{.name = "epsilon",
                                          .meaning = "the least epsilon at this delta",
                                          .fields = epsilon_fields,
                                          .safe_end = report::SafeEnd::hi,
                                          .value = value_of_epsilon,
                                          .answer = answer_epsilon};

}  // namespace tradeoff::detail::ask
