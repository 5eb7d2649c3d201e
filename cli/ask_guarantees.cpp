// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "mechanism/loss.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {

Answer answer_guarantees(const Question& question) {
  const auto curve = question.curve();
  const Loss& loss = *curve->loss();
  if (question.direction() == Direction::worst && !loss.symmetric())
    throw UnsupportedError("guarantees: the two directions of this plan differ; ask for direction remove or add");
  const auto side = question.direction() == Direction::add ? Direction::add : Direction::remove;
  const auto found = loss.guarantees(side);
  if (!found) throw UnsupportedError("guarantees: this plan is not composed point by point, so its curve has no corners to list");
  const auto corners = std::make_shared<const std::vector<Guarantee>>(*found);
  return {[corners](report::JsonWriter& out) {
            out.begin_array();
            for (const Guarantee& corner : *corners)
              out.begin_object().key("epsilon").interval(corner.epsilon).key("delta").interval(corner.delta).end_object();
            out.end_array();
          },
          [corners](const report::Style& style) {
            std::string text;
            for (const Guarantee& corner : *corners)
              text += "epsilon <= " + report::safe_end(corner.epsilon, report::SafeEnd::hi, 10) +
                      "   delta <= " + report::safe_end(corner.delta, report::SafeEnd::hi, 10) + "\n";
            return style.quiet ? text : text + "(" + std::to_string(corners->size()) + " corners; " + style.remark + ")\n";
          },
          curve};
}

}  // namespace tradeoff::cli
