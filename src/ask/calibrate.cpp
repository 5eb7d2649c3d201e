// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/calibrate.h"

#include <array>

#include "ask/request.h"
#include "plan/unknown.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::ask {
namespace {

constexpr auto calibrate_fields = std::to_array<Field>({
    {"target.epsilon", "the target's epsilon; with target.delta", Kind::number, at_least_zero},
    {"target.delta", "the target's delta; with target.epsilon", Kind::number, at_least_zero},
    {"target.mu", "the target: mu-GDP", Kind::number, at_least_zero},
    {"target.slack", "with target.mu: except with this probability", Kind::number, at_least_zero},
    {"target.advantage", "the target: no attack has a larger advantage", Kind::number, at_least_zero},
    {"target.fpr", "the target's false-positive rate; with target.tpr", Kind::number, at_least_zero},
    {"target.tpr", "the target: no attack has a larger true-positive rate at target.fpr", Kind::number, at_least_zero},
});

/// Reads every target from the fields; on the command line the fields are options.
Targets read_targets_of(const Request& request) {
  const auto field_of = [](std::string_view word) { return "target." + std::string(word); };
  try {
    Targets targets = read_targets(
        [&](std::string_view word) { return request.has(field_of(word)) ? std::optional(request.text(field_of(word))) : std::nullopt; },
        request.source() == Source::command_line ? "--" : "target.");
    if (!targets.empty()) return targets;
  } catch (const DomainError& error) {
    throw RequestError("domain", error.what(), "target", 0);
  }
  throw RequestError("parse",
                     std::string("state a target: ") + (request.source() == Source::command_line
                                                            ? "--epsilon E with --delta D, --mu M, --advantage A, or --fpr X with --tpr Y"
                                                            : "{epsilon, delta}, {mu}, {advantage} or {fpr, tpr}, or several of them"),
                     "target", 0);
}

Answer answer_calibrate(const Request& request) {
  const Targets targets = read_targets_of(request);
  request.require_both_directions("a target is met in both directions");
  const Plan plan = request.plan();
  const Calibration found = calibrate(plan, targets, request.neighbours(), request.tolerance());
  const std::string name = find_unknown(plan).parameter;
  const std::string met = to_string(targets);
  Answer answer{[found](report::JsonWriter& out) { out.interval(found.value); },
                [=](const report::Style& style) {
                  std::string text = name + " = " + found.printed + " meets " + met + "\n";
                  if (style.quiet) return text;
                  text += std::string("    the ") + (found.safe_end_is_hi ? "smallest" : "largest") + " that does is " +
                          report::between(found.value) + (found.is_monotone ? "" : "; a larger one need not") + "\n";
                  return style.remark.empty() ? text : text + "    " + style.remark + "\n";
                },
                nullptr};
  answer.safe_end = found.safe_end_is_hi ? report::SafeEnd::hi : report::SafeEnd::lo;
  return answer;
}

}  // namespace

constinit const Question calibrate_question{.name = "calibrate",
                                            .meaning = "the value of the plan's ? that just meets every target",
                                            .fields = calibrate_fields,
                                            .answer = answer_calibrate};

}  // namespace tradeoff::detail::ask
