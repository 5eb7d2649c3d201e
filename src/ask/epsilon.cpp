// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"

namespace tradeoff::ask {
namespace {

constexpr std::array<Field, 1> epsilon_fields = {{{"delta", "a probability", Kind::number, probability, true}}};

Answer answer_epsilon(const Request& request) {
  const auto curve = request.curve();
  const Interval epsilon = curve->epsilon_at(request.number("delta"), request.direction());
  return answer_claim(
      {"epsilon", epsilon, *request.question().safe_end, "at delta = " + request.text("delta"), report::log10_if_tiny(epsilon)}, curve);
}

}  // namespace

constinit const Question epsilon_question{.name = "epsilon",
                                          .meaning = "the least epsilon at this delta",
                                          .fields = epsilon_fields,
                                          .safe_end = report::SafeEnd::hi,
                                          .answer = answer_epsilon};

}  // namespace tradeoff::ask
