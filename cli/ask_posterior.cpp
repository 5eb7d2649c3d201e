// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

namespace tradeoff::cli {

Answer answer_posterior(const Question& question) {
  question.require_both_directions("a guess may be that the record is there, or that it is not");
  const Interval prior = question.inner_probability("prior");
  const auto curve = question.curve();
  const Posterior posterior = curve->posterior_at(prior);
  const std::string condition = "at prior = " + question.text("prior");
  return {[posterior](report::JsonWriter& out) {
            out.begin_object().key("accuracy").interval(posterior.accuracy).key("largest").interval(posterior.largest).end_object();
          },
          [posterior, condition](const report::Style& style) {
            return to_text(report::Claim{"accuracy of the best guess", posterior.accuracy, report::SafeEnd::hi, condition, {}}, style) +
                   to_text(report::Claim{"posterior", posterior.largest, report::SafeEnd::hi, condition, {}}, {style.quiet, ""});
          },
          curve};
}

}  // namespace tradeoff::cli
