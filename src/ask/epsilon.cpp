// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> epsilon_fields = {{{"delta", "a probability", Kind::number, probability, true}}};

Interval value_of_epsilon(const Curve& curve, Level delta, Direction direction) { return curve.epsilon_at(delta, direction); }

Answer answer_epsilon(const Request& request) {
  const auto curve = request.curve();
  const Interval epsilon = value_of_epsilon(*curve, request.number("delta"), request.direction());
  return answer_claim(
      {"epsilon", epsilon, *request.question().safe_end, "at delta = " + request.text("delta"), report::log10_if_tiny(epsilon)}, curve);
}

}  // namespace

constinit const Question epsilon_question{.name = "epsilon",
                                          .meaning = "the least epsilon at this delta",
                                          .fields = epsilon_fields,
                                          .safe_end = report::SafeEnd::hi,
                                          .value = value_of_epsilon,
                                          .answer = answer_epsilon};

}  // namespace tradeoff::detail::ask
