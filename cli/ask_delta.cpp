// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

namespace tradeoff::cli {

Answer answer_delta(const Question& question) {
  const Interval epsilon = question.number_or_infinity("epsilon");
  const auto curve = question.curve();
  const Interval delta = curve->delta_at(epsilon, question.direction());
  auto log10 = report::log10_if_tiny(delta);
  if (log10) log10 = report::log10_if_tiny(delta, curve->log_delta_at(epsilon, question.direction()));
  return answer_claim({"delta", delta, report::SafeEnd::hi, "at epsilon = " + question.text("epsilon"), log10}, curve);
}

}  // namespace tradeoff::cli
