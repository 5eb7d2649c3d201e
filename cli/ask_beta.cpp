// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

namespace tradeoff::cli {

Answer answer_beta(const Question& question) {
  const Interval alpha = question.probability("alpha");
  const auto curve = question.curve();
  const Interval beta = curve->beta_at(alpha, question.direction());
  return answer_claim({"beta", beta, report::SafeEnd::lo, "at alpha = " + question.text("alpha"), report::log10_if_tiny(beta)}, curve);
}

}  // namespace tradeoff::cli
