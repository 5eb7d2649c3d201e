// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ask/request.h"
#include "report/exact_numbers.h"

namespace tradeoff::detail::ask {
namespace {

Answer answer_advantage(const Request& request) {
  const auto curve = request.curve();
  const Interval advantage = curve->advantage();  // the total variation is the same in both directions
  report::Claim claim{"advantage", advantage, *request.question().safe_end, "", report::log10_if_tiny(advantage)};
  claim.exact = report::exact_advantage(request.plan(), advantage);
  return answer_claim(std::move(claim), curve);
}

}  // namespace

constinit const Question advantage_question{.name = "advantage",
                                            .meaning = "the largest true-positive rate minus false-positive rate of any attack",
                                            .safe_end = report::SafeEnd::hi,
                                            .answer = answer_advantage};

}  // namespace tradeoff::detail::ask
