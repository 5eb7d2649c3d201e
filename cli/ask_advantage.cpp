// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

namespace tradeoff::cli {

Answer answer_advantage(const Question& question) {
  const auto curve = question.curve();
  const Interval advantage = curve->advantage();  // the total variation is the same in both directions
  return answer_claim({"advantage", advantage, report::SafeEnd::hi, "", report::log10_if_tiny(advantage)}, curve);
}

}  // namespace tradeoff::cli
