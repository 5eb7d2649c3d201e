// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

namespace tradeoff::cli {

Answer answer_tpr(const Question& question) {
  const Interval fpr = question.probability("fpr");
  const auto curve = question.curve();
  const Interval tpr = curve->tpr_at(fpr, question.direction());
  return answer_claim({"tpr", tpr, report::SafeEnd::hi, "at fpr = " + question.text("fpr"), report::log10_if_tiny(tpr)}, curve);
}

}  // namespace tradeoff::cli
