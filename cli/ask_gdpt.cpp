// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "tradeoff/gdp.h"

namespace tradeoff::cli {

Answer answer_gdpt(const Question& question) {
  const Interval epsilon = question.number("epsilon");
  const auto curve = question.curve();
  const Interval mu = gdp_transform_at(*curve, epsilon, question.direction());
  return answer_claim({"mu", mu, report::SafeEnd::hi, "at epsilon = " + question.text("epsilon"), report::log10_if_tiny(mu)}, curve);
}

}  // namespace tradeoff::cli
