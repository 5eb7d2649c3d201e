// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/claim.h"
#include "report/json.h"
#include "tradeoff/curve.h"

namespace tradeoff::report {

/// A quantity at a value of its argument, which is given as it is spelled.
struct RiskRow {
  std::string given;
  Interval value;
};

/// What the best possible attacker can learn about one person, from any mechanism that the curve covers. All of it holds for either order:
/// whether the record is there or not, and whichever the attacker tries to show.
struct Risk {
  Interval advantage;
  std::vector<RiskRow> rates;       ///< largest true-positive rate at false-positive rates
  std::vector<RiskRow> accuracies;  ///< of the best guess, at priors
  std::vector<RiskRow> posteriors;  ///< the largest any output can cause, at priors
  std::vector<RiskRow> naming;      ///< chance to name the one of so many people
  std::vector<RiskRow> odds;        ///< factor on the odds about a person that is exceeded with at most this chance
  std::string rare;                 ///< the chance with which an output may cause more than `beliefs`
  std::vector<RiskRow> beliefs;     ///< the largest posterior that any but such rare outputs can cause, at priors
  RiskRow gaussian;                 ///< with this slack: as hard as telling N(0,1) from N(mu,1)
};

[[nodiscard]] Risk find_risk(const Curve& curve);
void write_json(const Risk& risk, JsonWriter& out);
[[nodiscard]] std::string to_lines(const Risk& risk, const Style& style);

/// Sentences for a reader who does not know epsilon. Every number is the end that may be claimed.
[[nodiscard]] std::vector<std::string> plain_sentences(const Risk& risk);
/// What all of them hold against.
inline constexpr const char* plain_introduction = "In plain words, whatever the attacker knows and however much it can compute:";

}  // namespace tradeoff::report
