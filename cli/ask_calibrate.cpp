// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "tradeoff/calibrate.h"

namespace tradeoff::cli {
namespace {

/// The one kind of target that the fields make up.
Target read_target(const Question& question) {
  const bool epsilon = question.has("target.epsilon");
  const bool delta = question.has("target.delta");
  const bool mu = question.has("target.mu");
  const bool advantage = question.has("target.advantage");
  const bool fpr = question.has("target.fpr");
  const bool tpr = question.has("target.tpr");
  const int kinds = (epsilon || delta) + mu + advantage + (fpr || tpr);
  if (kinds != 1) {
    throw RequestError("parse", "a target is one of {epsilon, delta}, {mu}, {advantage} and {fpr, tpr}", "target", 0);
  }
  if (epsilon || delta) return EpsilonDeltaTarget{question.at_least_zero("target.epsilon"), question.probability("target.delta")};
  if (mu) return MuTarget{question.at_least_zero("target.mu")};
  if (advantage) return AdvantageTarget{question.probability("target.advantage")};
  return AttackTarget{question.probability("target.fpr"), question.probability("target.tpr")};
}

std::string describe_target(const Question& question) {
  std::string text;
  for (const char* name : {"epsilon", "delta", "mu", "advantage", "fpr", "tpr"}) {
    const std::string field = std::string("target.") + name;
    if (question.has(field)) text += (text.empty() ? "" : ", ") + std::string(name) + " = " + question.text(field);
  }
  return text;
}

std::string name_of_unknown(const Plan& plan);

std::string name_of_unknown(const Call& call) {
  for (const Argument& argument : call.arguments) {
    if (std::holds_alternative<Unknown>(argument.value.content)) return argument.name;
    if (const auto* inner = std::get_if<Plan>(&argument.value.content)) {
      if (auto name = name_of_unknown(*inner); !name.empty()) return name;
    }
  }
  return {};
}

/// The argument that `?` stands for, so that the answer can name it.
std::string name_of_unknown(const Plan& plan) {
  for (const Line& line : plan.lines) {
    std::string name = std::visit([](const auto& source) { return name_of_unknown(source); }, line.source);
    for (auto call = line.operators.begin(); name.empty() && call != line.operators.end(); ++call) name = name_of_unknown(*call);
    if (!name.empty()) return name;
  }
  return {};
}

}  // namespace

Answer answer_calibrate(const Question& question) {
  const Target target = read_target(question);
  if (question.direction() != Direction::worst) question.refuse("direction", "worst: a target is met in both directions");
  const Plan plan = question.plan();
  const Calibration found = calibrate(plan, target, question.neighbours(), question.tolerance());
  const auto safe = found.safe_end_is_hi ? report::SafeEnd::hi : report::SafeEnd::lo;
  const std::string name = name_of_unknown(plan);
  const std::string met = describe_target(question);
  return {[found](report::JsonWriter& out) { out.interval(found.value); },
          [=](const report::Style& style) {
            constexpr int digits = 7;  // the value is going to be used, not only quoted
            std::string line = name + " = " + report::safe_end(found.value, safe, digits) + " meets " + met;
            if (style.quiet) return line + "\n";
            line += std::string("     (the ") + (found.safe_end_is_hi ? "smallest" : "largest") + " that does is " +
                    report::between(found.value);
            if (!style.remark.empty()) line += "; " + style.remark;
            return line + ")\n";
          },
          nullptr};
}

}  // namespace tradeoff::cli
