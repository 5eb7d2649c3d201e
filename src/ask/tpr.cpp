// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "ask/request.h"
#include "report/exact_numbers.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> tpr_fields = {{{"fpr", "the false-positive rate of the attack", Kind::number, probability, true}}};

Interval value_of_tpr(const Curve& curve, Level fpr, Direction direction) { return curve.tpr_at(fpr, direction); }

Answer answer_tpr(const Request& request) {
  const auto curve = request.curve();
  const Interval tpr = value_of_tpr(*curve, request.value("fpr"), request.direction());
  report::Claim claim{"tpr", tpr, *request.question().safe_end, "at fpr = " + request.shown("fpr"), report::log10_if_tiny(tpr)};
  claim.exact = report::exact_tpr(request.plan(), request.number("fpr"), request.direction(), tpr);
  return answer_claim(std::move(claim), curve);
}

}  // namespace

constinit const Question tpr_question{.name = "tpr",
                                      .meaning = "the largest true-positive rate of an attack with this false-positive rate",
                                      .fields = tpr_fields,
                                      .safe_end = report::SafeEnd::hi,
                                      .value = value_of_tpr,
                                      .answer = answer_tpr};

}  // namespace tradeoff::detail::ask
