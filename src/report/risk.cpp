// SPDX-License-Identifier: Apache-2.0
#include "report/risk.h"

#include <array>

#include "curve/many_questions.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "numeric/usual_arithmetic.h"
#include "tradeoff/gdp.h"
#include "tradeoff/operations.h"

namespace tradeoff::report {
namespace {

constexpr std::array<const char*, 4> shown_rates = {"1e-4", "0.001", "0.01", "0.1"};  // false-positive rates that attack papers report
constexpr std::array<const char*, 3> shown_priors = {"0.01", "0.1", "0.5"};           // from rare disease to a coin toss
constexpr std::array<const char*, 3> shown_crowds = {"10", "1000", "1000000"};        // a family, a school, a city
constexpr std::array<const char*, 2> shown_chances = {"0.01", "1e-5"};                // outputs that are rarer may tell more
constexpr const char* shown_slack = "1e-5";                                           // private training has no useful mu without one

void write_rows(JsonWriter& out, const char* given_name, const char* value_name, const std::vector<RiskRow>& rows) {
  out.begin_array();
  for (const RiskRow& row : rows) out.begin_object().key(given_name).raw(row.given).key(value_name).interval(row.value).end_object();
  out.end_array();
}

/// The safe end in per cent, rounded up.
std::string per_cent(Interval value) { return safe_end(value * 100.0, SafeEnd::hi, 3) + " %"; }

const RiskRow& row_of(const std::vector<RiskRow>& rows, std::string_view given) {
  for (const RiskRow& row : rows)
    if (given == row.given) return row;
  return rows.back();
}

}  // namespace

Risk find_risk(const Curve& asked, Direction direction) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return find_risk(asked, direction); });

  const Curve curve = for_many_questions(asked);
  Risk risk;
  risk.advantage = curve.advantage();
  for (const char* rate : shown_rates) risk.rates.push_back({rate, curve.tpr_at(*numeric::enclose_decimal(rate), direction)});
  for (const char* prior : shown_priors) {
    const Posterior posterior = curve.posterior_at(*numeric::enclose_decimal(prior));
    risk.accuracies.push_back({prior, posterior.accuracy});
    risk.posteriors.push_back({prior, posterior.largest});
  }
  for (const char* people : shown_crowds)
    risk.naming.push_back({people, naming_chance(curve, static_cast<std::uint64_t>(numeric::enclose_decimal(people)->lo))});
  for (const char* chance : shown_chances) risk.odds.push_back({chance, odds_factor(curve, *numeric::enclose_decimal(chance))});
  risk.gaussian = {shown_slack, measure_mu(curve, {*numeric::enclose_decimal(shown_slack)}).with_slack.front().mu};
  return risk;
}

void write_json(const Risk& risk, JsonWriter& out) {
  out.begin_object().key("advantage").interval(risk.advantage);
  write_rows(out.key("tpr"), "fpr", "tpr", risk.rates);
  write_rows(out.key("accuracy"), "prior", "accuracy", risk.accuracies);
  write_rows(out.key("posterior"), "prior", "largest", risk.posteriors);
  write_rows(out.key("naming"), "people", "chance", risk.naming);
  write_rows(out.key("odds"), "except", "factor", risk.odds);
  out.key("gaussian").begin_object().key("slack").raw(risk.gaussian.given).key("mu").interval(risk.gaussian.value).end_object();
  out.end_object();
}

std::string to_lines(const Risk& risk, const Style& style) {
  const Style row_style{style.quiet, ""};
  std::string text = "What the best possible attacker can learn about one person:\n";
  text += "  " + to_text(Claim{"advantage", risk.advantage, SafeEnd::hi, "over a guess (true minus false positives)", {}}, row_style);
  for (const RiskRow& row : risk.rates) {
    text += "  " +
            to_text(Claim{"true-positive rate", row.value, SafeEnd::hi, std::string("at false-positive rate ") + row.given, {}}, row_style);
  }
  for (const RiskRow& row : risk.accuracies) {
    text +=
        "  " + to_text(Claim{"accuracy of the best guess", row.value, SafeEnd::hi, std::string("at prior ") + row.given, {}}, row_style);
  }
  for (const RiskRow& row : risk.posteriors) {
    text += "  " + to_text(Claim{"posterior", row.value, SafeEnd::hi, std::string("at prior ") + row.given, {}}, row_style);
  }
  for (const RiskRow& row : risk.naming)
    text += "  " + to_text(Claim{"chance to name one person", row.value, SafeEnd::hi, std::string("of ") + row.given, {}}, row_style);
  for (const RiskRow& row : risk.odds)
    text +=
        "  " + to_text(Claim{"factor on the odds", row.value, SafeEnd::hi, std::string("except with chance ") + row.given, {}}, row_style);
  text += "  " +
          to_text(Claim{"mu", risk.gaussian.value, SafeEnd::hi, std::string("except with chance ") + risk.gaussian.given, {}}, row_style);
  text += std::string("\n") + plain_introduction + "\n";
  for (const std::string& sentence : plain_sentences(risk)) text += "  " + sentence + "\n";
  if (!style.quiet) text += "(" + style.remark + ")\n";
  return text;
}

std::vector<std::string> plain_sentences(const Risk& risk) {
  std::vector<std::string> sentences = {"An attack that wrongly accuses 1 person in 1000 finds at most " +
                                            per_cent(row_of(risk.rates, "0.001").value) + " of those who took part.",
                                        "If a coin toss had decided whether you take part, the best guess about it is right at most " +
                                            per_cent(row_of(risk.accuracies, "0.5").value) + " of the time.",
                                        "Out of 1000 equally likely people it names the right one with a chance of at most " +
                                            per_cent(row_of(risk.naming, "1000").value) + "."};
  const Interval odds = row_of(risk.odds, "1e-5").value;
  sentences.push_back(odds.hi < infinity ? "In all but 1 of 100000 runs, no output multiplies the odds that you took part by more than " +
                                               safe_end(odds, SafeEnd::hi, 3) + "."
                                         : "More often than once in 100000 runs an output may reveal whether you took part.");
  if (risk.gaussian.value.hi < infinity)
    sentences.push_back(
        "All but 1 of 100000 times, telling whether you took part is at least as hard as telling by one number whether it was drawn from a "
        "bell curve around 0 or around " +
        safe_end(risk.gaussian.value, SafeEnd::hi, 3) + ", both of width 1.");
  return sentences;
}

}  // namespace tradeoff::report
