// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"

namespace tradeoff::detail::ask {

namespace {

constexpr std::array<Field, 1> posterior_fields = {{{"prior", "how likely membership was before", Kind::number, inner_probability, true}}};

Answer answer_posterior(const Request& request) {
  request.require_both_directions("a guess may be that the record is there, or that it is not");
  const Interval prior = request.value("prior");
  const auto curve = request.curve();
  const Posterior posterior = curve->posterior_at(prior);
  const std::string condition = "at prior = " + request.text("prior");
  return {[posterior](report::JsonWriter& out) {
            out.begin_object().key("accuracy").interval(posterior.accuracy).key("largest").interval(posterior.largest).end_object();
          },
          [posterior, condition](const report::Style& style) {
            return to_text(report::Claim{"accuracy of the best guess", posterior.accuracy, report::SafeEnd::hi, condition, {}}, style) +
                   to_text(report::Claim{"posterior", posterior.largest, report::SafeEnd::hi, condition, {}}, {style.quiet, ""});
          },
          curve};
}

}  // namespace

constinit const Question posterior_question{.name = "posterior",
                                            .meaning = "what an attacker with this prior may believe afterwards",
                                            .fields = posterior_fields,
                                            .answer = answer_posterior};

}  // namespace tradeoff::detail::ask
