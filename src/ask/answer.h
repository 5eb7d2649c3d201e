// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "report/claim.h"
#include "report/json.h"
#include "tradeoff/curve.h"
#include "tradeoff/provenance.h"

namespace tradeoff::detail::ask {

/// The verdict of a yes-or-no question.
enum class Outcome {
  answered,   ///< yes, or the question was not a yes-or-no question
  no,         ///< proved not to hold
  undecided,  ///< not decided at this accuracy
};

/// The answer to a question. It is written only in the requested format.
struct Answer {
  std::function<void(report::JsonWriter&)> json;          ///< writes one JSON value
  std::function<std::string(const report::Style&)> text;  ///< writes lines of text
  std::shared_ptr<const Curve> curve;                     ///< the curve of the plan; null if no curve was needed
  std::optional<Interval> value{};                        ///< the interval, if the answer is one interval
  Outcome outcome = Outcome::answered;
  std::optional<report::SafeEnd> safe_end{};  ///< the end that may be claimed; if empty, that of the question
  Provenance provenance{};                    ///< how the answer was computed
};

/// An answer that is one interval.
[[nodiscard]] inline Answer answer_claim(report::Claim claim, std::shared_ptr<const Curve> curve) {
  auto shared = std::make_shared<const report::Claim>(std::move(claim));
  return {[shared](report::JsonWriter& out) { out.interval(shared->value, shared->log10); },
          [shared](const report::Style& style) { return to_text(*shared, style); }, std::move(curve), shared->value};
}

/// The members of an answer object: `"answer": ..., "method": ..., "steps": [...]`.
inline void write_answer(const Answer& answer, report::JsonWriter& out) {
  out.key("answer");
  answer.json(out);
  out.key("method").text(to_string(answer.provenance.method)).key("steps").steps(answer.provenance.steps);
}

}  // namespace tradeoff::detail::ask
