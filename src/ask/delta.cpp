// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "ask/request.h"
#include "loss/negligible.h"
#include "report/exact_numbers.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> delta_fields = {
    {{"epsilon", "any real number, or inf for the mass at infinite loss", Kind::number_or_infinity, any_number, true}}};

Interval value_of_delta(const Curve& curve, Level epsilon, Direction direction) { return curve.delta_at(epsilon, direction); }

Answer answer_delta(const Request& request) {
  const Number epsilon = request.number("epsilon");
  const auto curve = request.curve();
  const Interval delta = value_of_delta(*curve, epsilon, request.direction());
  auto log10 = report::log10_if_tiny(delta);
  if (log10) {
    const BoundedLogarithms only_shown;
    log10 = report::log10_if_tiny(delta, curve->log_delta_at(epsilon, request.direction()));
  }
  report::Claim claim{"delta", delta, *request.question().safe_end, "at epsilon = " + request.shown("epsilon"), log10};
  claim.exact = report::exact_delta(request.plan(), epsilon, request.direction(), delta);
  return answer_claim(std::move(claim), curve);
}

}  // namespace

constinit const Question delta_question{.name = "delta",
                                        .meaning = "the least delta at this epsilon",
                                        .fields = delta_fields,
                                        .safe_end = report::SafeEnd::hi,
                                        .value = value_of_delta,
                                        .answer = answer_delta};

}  // namespace tradeoff::detail::ask
