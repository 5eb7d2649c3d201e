// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/claim.h"
#include "report/json.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail::report {

/// A quantity at a value of its argument; the argument is kept as written.
struct RiskRow {
  std::string given;
  Interval value;
  std::string exact = {};  ///< the exact number, where it is known
};

/// What the best possible attack can learn about one person, for any mechanism that the curve covers. All of it holds in both directions:
/// whether or not the record is in the data.
struct Risk {
  Interval advantage;
  std::string exact_advantage = {};
  std::vector<RiskRow> rates;       ///< largest true-positive rate at false-positive rates
  std::vector<RiskRow> accuracies;  ///< of the best guess, at priors
  std::vector<RiskRow> posteriors;  ///< the largest any output can cause, at priors
  std::vector<RiskRow> naming;      ///< probability of picking the right one among so many people
  std::vector<RiskRow> odds;        ///< factor on the odds about a person that is exceeded with at most this probability
  std::string rare;                 ///< the probability with which an output may cause more than `beliefs`
  std::vector<RiskRow> beliefs;     ///< the largest posterior, except for such rare outputs, at priors
  RiskRow gaussian;                 ///< with this slack: as hard as distinguishing N(0,1) from N(mu,1)
};

[[nodiscard]] Risk find_risk(const Curve& curve);
/// The posterior after an output that multiplies the odds by at most this factor. [odds-factor]
[[nodiscard]] Interval belief_after(Interval prior, Interval factor);
/// How often the better constant guess is right, to six digits: what an accuracy is compared with, not a claim.
[[nodiscard]] std::string best_guess(Interval prior);
/// The exact accuracy of the best guess at this prior, a decimal or a quotient, if no output changes what is likelier: the larger of the
/// prior and its complement; or what listed probabilities determine. Empty otherwise. [membership-posterior]
[[nodiscard]] std::string exact_accuracy(const Curve& curve, const std::string& prior, Interval found);
void write_json(const Risk& risk, JsonWriter& out);
[[nodiscard]] std::string to_lines(const Risk& risk, const Style& style);

/// Sentences for a reader who does not know epsilon. Every number may be claimed.
[[nodiscard]] std::vector<std::string> plain_sentences(const Risk& risk);
/// The assumption of all these sentences.
inline constexpr const char* plain_introduction = "In plain words, whatever the attacker knows and however much it can compute:";

}  // namespace tradeoff::detail::report
