// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "answer.h"
#include "question.h"

// The questions that can be asked, by `tradeoff query` and by the verbs. A new one is a file ask_<name>.cpp, a declaration here and a line
// in the table of asks.cpp.
namespace tradeoff::cli {

/// One kind of question: its name, the fields it has besides the common ones, and who answers.
struct Ask {
  std::string_view name;
  std::span<const std::string_view> fields;
  Answer (*answer)(const Question&);
};

[[nodiscard]] Answer answer_delta(const Question& question);
[[nodiscard]] Answer answer_epsilon(const Question& question);
[[nodiscard]] Answer answer_beta(const Question& question);
[[nodiscard]] Answer answer_mu(const Question& question);
[[nodiscard]] Answer answer_gdpt(const Question& question);
[[nodiscard]] Answer answer_advantage(const Question& question);
[[nodiscard]] Answer answer_tpr(const Question& question);
[[nodiscard]] Answer answer_posterior(const Question& question);
[[nodiscard]] Answer answer_calibrate(const Question& question);
[[nodiscard]] Answer answer_guarantees(const Question& question);
[[nodiscard]] Answer answer_approximate(const Question& question);
[[nodiscard]] Answer answer_moments(const Question& question);
[[nodiscard]] Answer answer_clt(const Question& question);
[[nodiscard]] Answer answer_renyi(const Question& question);
[[nodiscard]] Answer answer_compare(const Question& question);
[[nodiscard]] Answer answer_divergences(const Question& question);
[[nodiscard]] Answer answer_order(const Question& question);
[[nodiscard]] Answer answer_limit(const Question& question);
[[nodiscard]] Answer answer_risk(const Question& question);
[[nodiscard]] Answer answer_naming(const Question& question);
[[nodiscard]] Answer answer_odds(const Question& question);

/// Answers the request: checks that it has no unknown field, finds who answers, asks. Throws RequestError or Error.
[[nodiscard]] Answer answer(const Request& request, CurveCache& curves);

/// The members of an answer object: `"answer": ..., "method": ..., "steps": [...]`.
void write_answer(const Answer& answer, report::JsonWriter& out);

}  // namespace tradeoff::cli
