// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "ask/request.h"
#include "report/exact_numbers.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> beta_fields = {{{"alpha", "the type I error of the test", Kind::number, probability, true}}};

Interval value_of_beta(const Curve& curve, Level alpha, Direction direction) { return curve.beta_at(alpha, direction); }

Answer answer_beta(const Request& request) {
  const auto curve = request.curve();
  const Interval beta = value_of_beta(*curve, request.value("alpha"), request.direction());
  report::Claim claim{"beta", beta, *request.question().safe_end, "at alpha = " + request.shown("alpha"), report::log10_if_tiny(beta)};
  claim.exact = report::exact_beta(request.plan(), request.number("alpha"), request.direction(), beta);
  return answer_claim(std::move(claim), curve);
}

}  // namespace

constinit const Question beta_question{.name = "beta",
                                       .meaning = "the trade-off function: the least type II error of a test with this type I error",
                                       .fields = beta_fields,
                                       .safe_end = report::SafeEnd::lo,
                                       .value = value_of_beta,
                                       .answer = answer_beta};

}  // namespace tradeoff::detail::ask
