// SPDX-License-Identifier: Apache-2.0
#include "report/risk.h"

#include <array>

#include "ask/request.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> naming_fields = {
    {{"people", "the size of the crowd", Kind::number, whole_numbers("a whole number from 2 to 1e15", 2, 1e15), true}}};
constexpr std::array<Field, 1> odds_fields = {
    {{"chance", "the chance with which the factor may be exceeded", Kind::number, inner_probability, true}}};

constexpr std::string_view either_order = "a risk is that of a person who took part and of one who did not";

Answer answer_risk(const Request& request) {
  request.require_both_directions(either_order);
  const auto curve = request.curve();
  const auto risk = std::make_shared<const report::Risk>(report::find_risk(*curve));
  return {[risk](report::JsonWriter& out) { write_json(*risk, out); },
          [risk](const report::Style& style) { return to_lines(*risk, style); }, curve};
}

Answer answer_naming(const Request& request) {
  request.require_both_directions(either_order);
  const auto curve = request.curve();
  return answer_claim({"chance to name one person",
                       naming_chance(*curve, request.whole("people")),
                       *request.question().safe_end,
                       "of " + request.text("people"),
                       {}},
                      curve);
}

Answer answer_odds(const Request& request) {
  request.require_both_directions(either_order);
  const auto curve = request.curve();
  return answer_claim({"factor on the odds",
                       odds_factor(*curve, request.value("chance")),
                       *request.question().safe_end,
                       "except with chance " + request.shown("chance"),
                       {}},
                      curve);
}

}  // namespace

constinit const Question risk_question{
    .name = "risk", .meaning = "what the best attackers can do, in numbers and in plain words", .answer = answer_risk};

constinit const Question naming_question{.name = "naming",
                                         .meaning = "the largest chance that an attacker names the right person of a crowd",
                                         .fields = naming_fields,
                                         .safe_end = report::SafeEnd::hi,
                                         .answer = answer_naming};

constinit const Question odds_question{.name = "odds",
                                       .meaning = "the factor on the odds about a person that is exceeded with at most this chance",
                                       .fields = odds_fields,
                                       .safe_end = report::SafeEnd::hi,
                                       .answer = answer_odds};

}  // namespace tradeoff::detail::ask
