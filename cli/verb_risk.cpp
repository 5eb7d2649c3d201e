// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "asks.h"
#include "report/risk.h"
#include "tradeoff/operations.h"

namespace tradeoff::cli {
namespace {

constexpr std::string_view either_order = "a risk is that of a person who took part and of one who did not";

}  // namespace

Answer answer_risk(const Question& question) {
  question.require_both_directions(either_order);
  const auto curve = question.curve();
  const auto risk = std::make_shared<const report::Risk>(report::find_risk(*curve));
  return {[risk](report::JsonWriter& out) { write_json(*risk, out); },
          [risk](const report::Style& style) { return to_lines(*risk, style); }, curve};
}

namespace {

/// A whole number of people, at least 2.
std::uint64_t crowd(const Question& question) {
  const Interval people = question.number("people");
  const bool whole = people.lo == people.hi && people.lo == std::floor(people.lo);
  if (!(whole && people.lo >= 2 && people.hi <= 1e15)) question.refuse("people", "a whole number from 2 to 1e15");
  return static_cast<std::uint64_t>(people.lo);
}

}  // namespace

Answer answer_naming(const Question& question) {
  question.require_both_directions(either_order);
  const auto curve = question.curve();
  return answer_claim(
      {"chance to name one person", naming_chance(*curve, crowd(question)), report::SafeEnd::hi, "of " + question.text("people"), {}},
      curve);
}

Answer answer_odds(const Question& question) {
  question.require_both_directions(either_order);
  const auto curve = question.curve();
  return answer_claim({"factor on the odds",
                       odds_factor(*curve, question.inner_probability("chance")),
                       report::SafeEnd::hi,
                       "except with chance " + question.text("chance"),
                       {}},
                      curve);
}

}  // namespace tradeoff::cli
