// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "asks.h"

namespace tradeoff::cli {

Answer answer_epsilon(const Question& question) {
  const Interval delta = question.probability("delta");
  const auto curve = question.curve();
  Interval epsilon = curve->epsilon_at(delta, question.direction());
  epsilon.hi = std::min(epsilon.hi, stated_epsilon(question.plan(), read_number(question.text("delta"))));
  return answer_claim({"epsilon", epsilon, report::SafeEnd::hi, "at delta = " + question.text("delta"), report::log10_if_tiny(epsilon)},
                      curve);
}

}  // namespace tradeoff::cli
