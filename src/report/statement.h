// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/audit_note.h"
#include "report/document.h"
#include "report/risk.h"
#include "tradeoff/gdp.h"
#include "tradeoff/plan.h"

// The privacy statement: what a reader who decides about data needs to know about a plan, and what the plan does not cover.
namespace tradeoff::detail::report {

/// Facts that only the people who run the plan can know.
struct Context {
  std::string title = "Privacy statement";
  std::string unit;             ///< the protected unit in words: "one patient"; if empty, the number of records that every line protects
  std::optional<Number> delta;  ///< the delta of the headline; 1e-5 if not given
  std::string relative;         ///< the requested relative width as given; a reader who repeats the computation needs it
  std::string date = {};        ///< of publication, in the words of the publisher
  std::string contact = {};     ///< whom a reader may ask
  std::string released = {};    ///< the file of the table of published values, for the command that repeats the page
  std::vector<std::pair<std::string, std::string>> values = {};  ///< the published values: label and number
  bool disjoint = false;                                         ///< each value is about other people
  std::string audited = {};                                      ///< the file of the audit, for the command that repeats the page
  std::optional<AuditNote> audit = std::nullopt;                 ///< of the program, on outputs for two neighbouring data sets
};

/// mu with a slack, and the loss of accuracy if only that is stated; no regret if no mu is finite.
struct MuRow {
  std::string slack;
  Interval mu;
  std::optional<Interval> regret;
  std::string bound = {};  ///< an exact number that bounds mu within its width
};

struct Statement {
  Context context;
  std::uint64_t records;  ///< the group size that every line of the plan protects
  std::string plan_text;
  Plan plan;
  Curve curve;
  std::pair<Number, Interval> headline;                    ///< delta and its epsilon
  std::vector<std::pair<Number, Interval>> epsilons;       ///< at decreasing deltas, including that of the headline
  GdpMeasurement gaussian;                                 ///< whether the plan is Gaussian-DP for some mu
  std::vector<MuRow> mus;                                  ///< slack 0 first, if a mu without slack exists
  std::vector<std::pair<std::string, Interval>> tradeoff;  ///< least false-negative rate at some false-positive rates
  Interval balanced;                                       ///< least error rate of an attack whose two error rates are equal
  Risk risk;
  Provenance provenance;  ///< of all numbers above
  /// For a plan with another sampler: the plan that an accountant takes it for that knows Poisson sampling only, and the epsilon of that
  /// plan at the delta of the headline. It is no statement about this plan.
  std::optional<std::pair<std::string, Interval>> assumed_poisson = std::nullopt;
  std::optional<Interval> rho = std::nullopt;   ///< of zero-concentrated DP, where one is known
  std::optional<Interval> pure = std::nullopt;  ///< epsilon at delta 0, if it is finite
  std::string exact_rho = {};                   ///< the exact numbers, where the plan determines them
  std::string exact_pure = {};
};

/// Asks the curve about twenty questions.
/// Throws DomainError for published values that the plan does not account for.
[[nodiscard]] Statement make_statement(Context context, const Plan& plan, const Curve& curve);

/// The largest group size for which every line of the plan keeps its guarantee: the minimum over the lines of the product of their group
/// sizes, nested plans included. [group-privacy]
[[nodiscard]] std::uint64_t records_protected(const Plan& plan);
/// "one record of the data", "any 3 records of the data together".
[[nodiscard]] std::string records_text(std::uint64_t records);
/// What is protected: the unit of the context, otherwise the number of records.
[[nodiscard]] std::string unit_of(const Statement& statement);
/// The command that reproduces the statement of the first plan, compared with the others; each word is quoted for a shell.
[[nodiscard]] std::string command_for(const std::vector<Statement>& statements);
/// The assumptions of the plan about who takes part in a step: one sentence for each kind of sampling.
[[nodiscard]] std::vector<std::string> sampling_assumed(const Plan& plan);
/// Whether a step sees a sample of the records, as in training.
[[nodiscard]] bool is_sampled(const Plan& plan);
/// The meaning of a neighbouring relation; NOT STATED if none is given.
[[nodiscard]] std::string neighbours_sentence(Neighbours neighbours);
/// What the statement does not cover.
[[nodiscard]] std::vector<std::string> not_covered(const Statement& statement);
/// "ε ≤ 2.38169 at δ = 1e-5".
[[nodiscard]] std::string headline_text(const Statement& statement);
/// The number as YAML 1.1 reads it: 1.0e-5, because 1e-5 is a text there. Valid JSON.
[[nodiscard]] std::string yaml_number(std::string text);
/// A YAML block for a model card or a data card.
[[nodiscard]] std::string model_card(const Statement& statement);

/// The statement of the first plan and, if there are several plans, a section that compares all of them.
[[nodiscard]] Document to_document(const std::vector<Statement>& statements);
/// For programs: the numbers as intervals, the fields of NIST SP 800-226 and of the registry of deployments, a model card.
[[nodiscard]] std::string to_json(const std::vector<Statement>& statements);

}  // namespace tradeoff::detail::report
