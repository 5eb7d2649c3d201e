// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/risk.h"
#include "tradeoff/gdp.h"
#include "tradeoff/plan.h"

// The privacy statement: everything that a reader who decides about data needs to know about a plan, and what it does not say.
namespace tradeoff::report {

/// What only the people who run the plan can know.
struct Context {
  std::string title = "Privacy statement";
  std::string unit;             ///< what the plan protects, to people: "one patient"; if empty, as many records as every line protects
  std::optional<Number> delta;  ///< that of the headline; 1e-5 if nothing is said
  std::string relative;         ///< the wanted relative width as it was given, if it was: who checks the page must ask for the same
};

/// mu with a chance of revealing everything, and what is lost by saying only that; no regret where no mu is finite.
struct MuRow {
  std::string slack;
  Interval mu;
  std::optional<Interval> regret;
};

struct Statement {
  Context context;
  std::uint64_t records;  ///< that may change together, in every line of the plan
  std::string plan_text;
  Plan plan;
  Curve curve;
  std::pair<Number, Interval> headline;                    ///< delta and its epsilon
  std::vector<std::pair<Number, Interval>> epsilons;       ///< at falling deltas, that of the headline among them
  GdpMeasurement gaussian;                                 ///< whether it is Gaussian-DP at all
  std::vector<MuRow> mus;                                  ///< the slack 0 first, if there is a mu without one
  std::vector<std::pair<std::string, Interval>> tradeoff;  ///< least misses at rates of false alarms
  Interval balanced;                                       ///< least error of an attack that errs equally often both ways
  Risk risk;
  Provenance provenance;  ///< of all numbers above
};

/// Takes about twenty questions to the curve.
[[nodiscard]] Statement make_statement(Context context, const Plan& plan, const Curve& curve);

/// How many records may change together without any line of the plan losing its guarantee: the least over the lines of the product of
/// their group sizes, nested plans included. [group-privacy]
[[nodiscard]] std::uint64_t records_protected(const Plan& plan);
/// "one record of the data", "any 3 records of the data together".
[[nodiscard]] std::string records_text(std::uint64_t records);
/// What is protected: the unit of the context, otherwise the records.
[[nodiscard]] std::string unit_of(const Statement& statement);
/// The command that makes the statement of the first plan beside the others again, each word quoted for a shell.
[[nodiscard]] std::string command_for(const std::vector<Statement>& statements);
/// What the plan assumes about who takes part in a step: a sentence for each kind of sampling in it.
[[nodiscard]] std::vector<std::string> sampling_assumed(const Plan& plan);
/// What a neighbouring relation means; NOT STATED if none is given.
[[nodiscard]] std::string neighbours_sentence(Neighbours neighbours);
/// What the statement does not cover.
[[nodiscard]] std::vector<std::string> not_covered(const Statement& statement);
/// "ε ≤ 2.382 at δ = 1e-5".
[[nodiscard]] std::string headline_text(const Statement& statement);
/// The block for the card of a model or of a data set, in YAML.
[[nodiscard]] std::string model_card(const Statement& statement);

/// The statement of the first plan, and a section that sets all of them side by side if there are several.
[[nodiscard]] Document to_document(const std::vector<Statement>& statements);
/// For programs: the numbers as intervals, the fields of NIST SP 800-226 and of the registry of deployments, a model card.
[[nodiscard]] std::string to_json(const std::vector<Statement>& statements);

}  // namespace tradeoff::report
