// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"

namespace tradeoff::ask {
namespace {

constexpr std::array<Field, 1> delta_fields = {
    {{"epsilon", "any real number, or inf for the mass at infinite loss", Kind::number_or_infinity, any_number, true}}};

Answer answer_delta(const Request& request) {
  const Interval epsilon = request.value("epsilon");
  const auto curve = request.curve();
  const Interval delta = curve->delta_at(epsilon, request.direction());
  auto log10 = report::log10_if_tiny(delta);
  if (log10) log10 = report::log10_if_tiny(delta, curve->log_delta_at(epsilon, request.direction()));
  return answer_claim({"delta", delta, *request.question().safe_end, "at epsilon = " + request.text("epsilon"), log10}, curve);
}

}  // namespace

constinit const Question delta_question{.name = "delta",
                                        .meaning = "the least delta at this epsilon",
                                        .fields = delta_fields,
                                        .safe_end = report::SafeEnd::hi,
                                        .answer = answer_delta};

}  // namespace tradeoff::ask
