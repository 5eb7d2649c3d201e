// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ask/answer.h"
#include "ask/field.h"
#include "report/claim.h"
#include "tradeoff/curve.h"

// Every question about a plan. The verbs, `tradeoff query` and the Python package use this table. A new question needs a file <name>.cpp
// with its fields, its row and its function, a declaration here and a line in questions.cpp.
namespace tradeoff::detail::ask {

class Request;

/// One row of the table.
struct Question {
  std::string_view name;
  std::string_view meaning;
  std::span<const Field> fields = {};            ///< besides the common ones
  std::optional<report::SafeEnd> safe_end = {};  ///< if the answer is one interval: the end that may be claimed
  /// Of a question with one number and one interval: its answer alone, without text or JSON. `answer` and Python's fast path call it.
  Interval (*value)(const Curve& curve, Level at, Direction direction) = nullptr;
  Answer (*answer)(const Request& request) = nullptr;  ///< null for a row that only the command line uses; `query` does not offer it

  [[nodiscard]] const Field* find_field(std::string_view field_name) const;
};

/// Fields of every question: the plan, the neighbours, the direction, the accuracy.
[[nodiscard]] std::span<const Field> common_fields();

[[nodiscard]] std::span<const Question* const> questions();
/// Null if there is no such question.
[[nodiscard]] const Question* find_question(std::string_view name);

extern const Question advantage_question;
extern const Question approximate_question;
extern const Question beta_question;
extern const Question calibrate_question;
extern const Question certify_question;
extern const Question check_question;
extern const Question clt_question;
extern const Question compare_question;
extern const Question delta_question;
extern const Question divergences_question;
extern const Question epsilon_question;
extern const Question gdpt_question;
extern const Question guarantees_question;
extern const Question limit_question;
extern const Question moments_question;
extern const Question mu_question;
extern const Question naming_question;
extern const Question odds_question;
extern const Question order_question;
extern const Question posterior_question;
extern const Question renyi_question;
extern const Question risk_question;
extern const Question tpr_question;

/// Answers the request and records how the answer was computed. Throws RequestError or Error.
[[nodiscard]] Answer answer(const Request& request);

}  // namespace tradeoff::detail::ask
