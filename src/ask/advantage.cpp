// SPDX-License-Identifier: Apache-2.0
#include "ask/request.h"

namespace tradeoff::detail::ask {
namespace {

Answer answer_advantage(const Request& request) {
  const auto curve = request.curve();
  const Interval advantage = curve->advantage();  // the total variation is the same in both directions
  return answer_claim({"advantage", advantage, *request.question().safe_end, "", report::log10_if_tiny(advantage)}, curve);
}

}  // namespace

constinit const Question advantage_question{.name = "advantage",
                                            .meaning = "the largest true-positive rate minus false-positive rate of any attack",
                                            .safe_end = report::SafeEnd::hi,
                                            .answer = answer_advantage};

}  // namespace tradeoff::detail::ask
