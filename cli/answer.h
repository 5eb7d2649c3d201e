// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "report/claim.h"
#include "report/json.h"
#include "tradeoff/curve.h"
#include "verb.h"

namespace tradeoff::cli {

/// What a question found, written only in the form that is wanted.
struct Answer {
  std::function<void(report::JsonWriter&)> json;          ///< writes one JSON value
  std::function<std::string(const report::Style&)> text;  ///< lines for people
  std::shared_ptr<const Curve> curve;                     ///< of the plan; null if no curve was needed
  std::optional<Interval> value{};                        ///< of an answer that is one interval
  ExitCode code = ExitCode::done;                         ///< what a verb that asks this tells its caller
  std::optional<Interval> log10{};                        ///< of a value that a double cannot hold well
  Provenance provenance{};                                ///< how it was found
};

/// An answer that is one interval.
[[nodiscard]] inline Answer answer_claim(report::Claim claim, std::shared_ptr<const Curve> curve) {
  auto shared = std::make_shared<const report::Claim>(std::move(claim));
  return {[shared](report::JsonWriter& out) { out.interval(shared->value, shared->log10); },
          [shared](const report::Style& style) { return to_text(*shared, style); },
          std::move(curve),
          shared->value,
          ExitCode::done,
          shared->log10};
}

}  // namespace tradeoff::cli
