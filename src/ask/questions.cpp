// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "ask/question.h"
#include "ask/request.h"

namespace tradeoff::detail::ask {
namespace {

constexpr auto all_questions = std::to_array<const Question*>({
    &delta_question,   &epsilon_question,   &beta_question,       &mu_question,     &gdpt_question,        &advantage_question,
    &tpr_question,     &posterior_question, &guarantees_question, &check_question,  &calibrate_question,   &certify_question,
    &compare_question, &moments_question,   &clt_question,        &renyi_question,  &approximate_question, &divergences_question,
    &order_question,   &limit_question,     &risk_question,       &naming_question, &odds_question,
});

constexpr Range tolerance_range{"above 0 and at most 1", 0, 1, false, true};

constexpr auto shared_fields = std::to_array<Field>({
    {"plan", "what is run, in the plan language", Kind::plan, any_number, true},
    {"neighbours", "the change of one record that the plan protects against: add-remove, replace-one or zero-out", Kind::choice},
    {"relative", "target relative width of the interval (it may be wider); 1e-6 by default", Kind::number, tolerance_range},
    {"direction", "which order of the two data sets: worst (default), remove or add", Kind::choice},
});

}  // namespace

std::span<const Field> common_fields() { return shared_fields; }

std::span<const Question* const> questions() { return all_questions; }

const Question* find_question(std::string_view name) {
  const auto* found = std::find_if(all_questions.begin(), all_questions.end(), [&](const Question* row) { return row->name == name; });
  return found == all_questions.end() ? nullptr : *found;
}

const Field* Question::find_field(std::string_view field_name) const {
  for (const std::span<const Field> some : {fields, common_fields()})
    for (const Field& field : some)
      if (field.name == field_name) return &field;
  return nullptr;
}

Answer answer(const Request& request) {
  Answer found;
  Provenance provenance = provenance_of([&] { found = request.question().answer(request); });
  found.provenance = std::move(provenance);
  if (!found.safe_end) found.safe_end = request.question().safe_end;
  return found;
}

}  // namespace tradeoff::detail::ask
