// SPDX-License-Identifier: Apache-2.0
#include "command_request.h"

namespace tradeoff::detail::cli {

ask::Request to_request(const ask::Question& question, const Options& options, ask::CurveCache& curves) {
  ask::Request request(question, curves, ask::Source::command_line);
  request.take("plan", options.plan);
  for (const auto& [option, value] : options.values) {
    const std::string_view field = option->field.empty() ? option->name : option->field;
    if (option->is_flag) continue;  // a flag changes the form of the answer, not the question
    if (question.answer != nullptr || question.find_field(field) != nullptr) request.take(field, value);
  }
  request.complete();
  return request;
}

}  // namespace tradeoff::detail::cli
