// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "plan/unknown.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

/// Every target that the fields make up; on the command line the fields are options.
Targets read_targets_of(const Question& question) {
  const auto field_of = [](std::string_view word) { return "target." + std::string(word); };
  for (const std::string_view word : target_words)
    if (question.has(field_of(word))) static_cast<void>(question.at_least_zero(field_of(word)));  // a fault is told with its place
  try {
    Targets targets = read_targets(
        [&](std::string_view word) { return question.has(field_of(word)) ? std::optional(question.text(field_of(word))) : std::nullopt; },
        question.is_typed() ? "--" : "target.");
    if (!targets.empty()) return targets;
  } catch (const DomainError& error) {
    throw RequestError("domain", error.what(), "target", 0);
  }
  throw RequestError(
      "parse",
      std::string("state a target: ") + (question.is_typed() ? "--epsilon E with --delta D, --mu M, --advantage A, or --fpr X with --tpr Y"
                                                             : "{epsilon, delta}, {mu}, {advantage} or {fpr, tpr}, or several of them"),
      "target", 0);
}

}  // namespace

Answer answer_calibrate(const Question& question) {
  const Targets targets = read_targets_of(question);
  question.require_both_directions("a target is met in both directions");
  const Plan plan = question.plan();
  const Calibration found = calibrate(plan, targets, question.neighbours(), question.tolerance());
  const std::string name = find_unknown(plan).parameter;
  const std::string met = to_string(targets);
  return {[found](report::JsonWriter& out) { out.interval(found.value); },
          [=](const report::Style& style) {
            std::string line = name + " = " + found.printed + " meets " + met;
            if (style.quiet) return line + "\n";
            line += std::string("     (the ") + (found.safe_end_is_hi ? "smallest" : "largest") + " that does is " +
                    report::between(found.value);
            if (!found.is_monotone) line += "; a larger one need not";
            if (!style.remark.empty()) line += "; " + style.remark;
            return line + ")\n";
          },
          nullptr};
}

}  // namespace tradeoff::cli
