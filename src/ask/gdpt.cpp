// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "ask/request.h"
#include "report/exact_numbers.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> gdpt_fields = {{{"epsilon", "a real number", Kind::number, any_number, true}}};

Interval value_of_gdpt(const Curve& curve, Level epsilon, Direction direction) {
  return gdp_transform_at(curve, epsilon.value(), direction);
}

Answer answer_gdpt(const Request& request) {
  const auto curve = request.curve();
  const Interval mu = value_of_gdpt(*curve, request.value("epsilon"), request.direction());
  report::Claim claim{"mu", mu, *request.question().safe_end, "at epsilon = " + request.shown("epsilon"), report::log10_if_tiny(mu)};
  claim.exact = report::exact_mu(request.plan(), *curve);
  return answer_claim(std::move(claim), curve);
}

}  // namespace

constinit const Question gdpt_question{.name = "gdpt",
                                       .meaning = "the mu whose Gaussian DP has the same delta at this epsilon",
                                       .fields = gdpt_fields,
                                       .safe_end = report::SafeEnd::hi,
                                       .value = value_of_gdpt,
                                       .answer = answer_gdpt};

}  // namespace tradeoff::detail::ask
