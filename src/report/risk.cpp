// SPDX-License-Identifier: Apache-2.0
// The risks of attacks, in statements that hold for every mechanism that the curve covers. [odds-factor] [slack-pair]
#include "report/risk.h"

#include <algorithm>
#include <array>

#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "engine/compose.h"
#include "loss/question_scope.h"
#include "numeric/arithmetic.h"
#include "numeric/conversions.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "operators/worst_profile.h"
#include "report/exact_numbers.h"
#include "report/label.h"
#include "tradeoff/gdp.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::report {
namespace {

constexpr std::array<const char*, 4> shown_rates = {"1e-4", "0.001", "0.01", "0.1"};  // false-positive rates that attack papers report
constexpr std::array<const char*, 3> shown_priors = {"0.01", "0.1", "0.5"};           // from a rare disease to a coin toss
constexpr std::array<const char*, 3> shown_crowds = {"10", "1000", "1000000"};        // a family, a school, a city
constexpr std::array<const char*, 2> shown_chances = {"0.01", "1e-5"};                // rarer outputs may reveal more
constexpr const char* shown_slack = "1e-5";                                           // without a slack DP-SGD has no useful mu

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

// [odds-factor] The odds grow by at most the factor.
Interval belief_after(Interval prior, Interval factor) {
  if (!(factor.lo < infinity)) return Interval::exactly(1);
  const Interval against = (1.0 - prior) / prior;
  const double high = factor.hi < infinity ? (1.0 / (1.0 + against / factor.hi)).hi : 1;
  return clamp({(1.0 / (1.0 + against / factor.lo)).lo, high}, 0, 1);
}

std::string best_guess(Interval prior) {
  const double right = std::max(middle_of(prior), 1 - middle_of(prior));
  std::array<char, 32> text{};
  return {text.data(), numeric::to_chars(text.data(), text.data() + text.size(), right, std::chars_format::general, 6).ptr};
}

namespace {

/// What listed probabilities determine of a number; empty for curves that were not made from a plan.
template <class Exact>
std::string by_plan(const Curve& curve, Exact&& exact) {
  const auto& composition = CurveState::of(curve).composition;
  return composition != nullptr && composition->plan != nullptr ? exact(*composition->plan) : std::string();
}

Number number_of(const std::string& text) { return {text, *numeric::enclose_decimal(text)}; }

}  // namespace

std::string exact_accuracy(const Curve& curve, const std::string& prior, Interval found) {
  const auto written = numeric::read_quotient(prior);
  const auto chance = written ? numeric::exact_rational(*written) : std::nullopt;
  const auto largest_loss = curve.pure_epsilon();
  if (!chance || chance->numerator == 0 || chance->numerator >= chance->denominator) return {};
  const Interval probability = numeric::enclose(*written);
  const Interval log_odds = log((1.0 - probability) / probability);
  const double largest = largest_loss ? largest_loss->value.hi : Profile(*loss_of(curve), Direction::worst).largest_loss().hi;
  if (!(largest <= std::max(log_odds.lo, -log_odds.hi)))
    return by_plan(curve, [&](const Plan& plan) { return exact_guess(plan, {prior, probability}, found); });
  return to_string(numeric::to_quotient(log_odds.lo > 0 ? *complement(chance) : *chance));
}

Risk find_risk(const Curve& asked) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return find_risk(asked); });

  const QuestionScope question;
  const Curve curve = cached_curve(asked);
  Risk risk;
  risk.advantage = curve.advantage();
  risk.exact_advantage = by_plan(asked, [&](const Plan& plan) { return exact_advantage(plan, risk.advantage); });
  for (const char* rate : shown_rates) {
    const Interval found = curve.tpr_at(*numeric::enclose_decimal(rate));
    risk.rates.push_back(
        {rate, found, by_plan(asked, [&](const Plan& plan) { return exact_tpr(plan, number_of(rate), Direction::worst, found); })});
  }
  for (const char* prior : shown_priors) {
    const Posterior posterior = curve.posterior_at(*numeric::enclose_decimal(prior));
    risk.accuracies.push_back({prior, posterior.accuracy, exact_accuracy(asked, prior, posterior.accuracy)});
    risk.posteriors.push_back({prior, posterior.largest, by_plan(asked, [&](const Plan& plan) {
                                 return exact_posterior(plan, number_of(prior), posterior.largest);
                               })});
  }
  for (const char* people : shown_crowds) {
    const Interval found = naming_chance(curve, static_cast<std::uint64_t>(numeric::enclose_decimal(people)->lo));
    const Number rate{std::string("1/") + people, 1.0 / *numeric::enclose_decimal(people)};
    risk.naming.push_back(
        {people, found, by_plan(asked, [&](const Plan& plan) { return exact_tpr(plan, rate, Direction::worst, found); })});
  }
  for (const char* chance : shown_chances) {
    const Interval found = odds_factor(curve, *numeric::enclose_decimal(chance));
    risk.odds.push_back({chance, found, by_plan(asked, [&](const Plan& plan) { return exact_factor(plan, found); })});
  }
  risk.rare = risk.odds.back().given;
  for (const char* prior : shown_priors) {
    const Interval found = belief_after(*numeric::enclose_decimal(prior), risk.odds.back().value);
    risk.beliefs.push_back({prior, found, by_plan(asked, [&](const Plan& plan) { return exact_belief(plan, number_of(prior), found); })});
  }
  const Interval slack = *numeric::enclose_decimal(shown_slack);
  const GdpPair pair = measure_mu(curve, {slack}).with_slack.front();
  // If rounding raised the slack, the raised slack is stated. [slack-pair]
  risk.gaussian = {pair.slack == slack ? shown_slack : safe_end(pair.slack, SafeEnd::hi, 6), pair.mu};
  return risk;
}

void write_json(const Risk& risk, JsonWriter& out) {
  out.begin_object().key("advantage").interval(risk.advantage);
  write_rows(out.key("tpr"), "fpr", "tpr", risk.rates);
  write_rows(out.key("accuracy"), "prior", "accuracy", risk.accuracies);
  write_rows(out.key("posterior"), "prior", "largest", risk.posteriors);
  write_rows(out.key("naming"), "people", "chance", risk.naming);
  write_rows(out.key("odds"), "except", "factor", risk.odds);
  out.key("belief").begin_array();
  for (const RiskRow& row : risk.beliefs)
    out.begin_object().key("prior").raw(row.given).key("except").raw(risk.rare).key("largest").interval(row.value).end_object();
  out.end_array();
  out.key("gaussian").begin_object().key("slack").raw(risk.gaussian.given).key("mu").interval(risk.gaussian.value).end_object();
  out.end_object();
}

std::string to_lines(const Risk& risk, const Style& style) {
  std::string text = "What the best possible attacker can learn about one person:\n";
  const auto add = [&](const char* quantity, Interval value, const std::string& condition, const std::string& exact = {}) {
    text += to_text(Claim{quantity, value, SafeEnd::hi, condition, {}, exact}, Style{style.quiet, "", 2});
  };
  add("advantage", risk.advantage, "over a guess (true minus false positives)", risk.exact_advantage);
  for (const RiskRow& row : risk.rates) add("true-positive rate", row.value, "at false-positive rate " + row.given, row.exact);
  for (const RiskRow& row : risk.accuracies)
    add("accuracy of the best guess", row.value,
        "at prior " + row.given + " (guessing: " + best_guess(*numeric::enclose_decimal(row.given)) + ")", row.exact);
  const auto says_nothing = [](const RiskRow& row) { return row.value.hi >= 1; };
  if (std::all_of(risk.posteriors.begin(), risk.posteriors.end(), says_nothing))
    text += "  posterior <= 1 at every prior: a rare result may leave no doubt\n";
  else
    for (const RiskRow& row : risk.posteriors) add("posterior", row.value, "at prior " + row.given, row.exact);
  for (const RiskRow& row : risk.beliefs)
    add("posterior", row.value, "at prior " + row.given + ", except with chance " + risk.rare, row.exact);
  for (const RiskRow& row : risk.naming)
    add("chance to name one person", row.value, "of " + row.given + " (guessing: 1/" + row.given + ")", row.exact);
  for (const RiskRow& row : risk.odds) add("factor on the odds", row.value, "except with chance " + row.given, row.exact);
  add("mu", risk.gaussian.value, "except with chance " + risk.gaussian.given);
  text += std::string("\n") + plain_introduction + "\n";
  for (const std::string& sentence : plain_sentences(risk)) text += "  " + wrapped(sentence, 4, 2);
  if (!style.quiet) text += "(" + style.remark + ")\n";
  return text;
}

std::vector<std::string> plain_sentences(const Risk& risk) {
  std::vector<std::string> sentences = {"An attack that wrongly accuses 1 person in 1000 finds at most " +
                                            per_cent(row_of(risk.rates, "0.001").value) + " of those who took part.",
                                        "If a coin toss had decided whether you take part, the best guess about it is right at most " +
                                            per_cent(row_of(risk.accuracies, "0.5").value) + " of the time.",
                                        "Among 1000 equally likely people, an attacker picks you with probability at most " +
                                            per_cent(row_of(risk.naming, "1000").value) + " (guessing: 0.1 %)."};
  const Interval odds = row_of(risk.odds, "1e-5").value;
  sentences.push_back(odds.hi < infinity ? "In all but 1 of 100000 runs, no output multiplies the odds that you took part by more than " +
                                               safe_end(odds, SafeEnd::hi, 3) + "."
                                         : "In 1 of 100000 runs, or more often, an output may reveal whether you took part.");
  if (risk.gaussian.value.hi < infinity)
    sentences.push_back("Except with probability " + risk.gaussian.given +
                        ", detecting you is at least as hard as telling one draw of N(0, 1) from one of N(" +
                        safe_end(risk.gaussian.value, SafeEnd::hi, 3) + ", 1).");
  return sentences;
}

}  // namespace tradeoff::detail::report
