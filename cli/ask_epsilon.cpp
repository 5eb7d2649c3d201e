// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

namespace tradeoff::cli {

Answer answer_epsilon(const Question& question) {
  const Interval delta = question.probability("delta");
  const auto curve = question.curve();
  const Interval epsilon = curve->epsilon_at(Number{question.text("delta"), delta}, question.direction());
  return answer_claim({"epsilon", epsilon, report::SafeEnd::hi, "at delta = " + question.text("delta"), report::log10_if_tiny(epsilon)},
                      curve);
}

}  // namespace tradeoff::cli
