// SPDX-License-Identifier: Apache-2.0
#include "report/statement.h"

#include <algorithm>
#include <array>
#include <functional>

#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "plan/arguments.h"
#include "plan/assumed_poisson.h"
#include "plan/vocabulary.h"
#include "report/exact_numbers.h"
#include "report/margin.h"
#include "report/regret.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::report {
namespace {

constexpr std::array<const char*, 5> shown_deltas = {"1e-4", "1e-5", "1e-6", "1e-8", "1e-10"};  // from a survey to cryptography
constexpr const char* headline_delta = "1e-5";                                                  // the usual choice
constexpr std::array<const char*, 3> shown_slacks = {"1e-5", "1e-8", "1e-10"};
constexpr std::array<const char*, 7> shown_alphas = {"1e-10", "1e-8", "1e-6", "1e-4", "0.001", "0.01", "0.1"};

/// The guarantee that (mu, slack) states, for the comparison with the curve. It uses the upper ends, which are claimed.
Curve summary_of(double mu, double slack) {
  const Curve gaussian = analyze(parse("gdp(mu=" + exact_number(mu).text + ")"));
  return slack > 0 ? with_revealing(gaussian, Interval::exactly(slack)) : gaussian;
}

MuRow mu_row(const Curve& curve, std::string slack_text, Interval mu, double slack) {
  if (!(mu.hi < infinity)) return {std::move(slack_text), mu, std::nullopt};
  return {std::move(slack_text), mu, regret_of(curve, summary_of(mu.hi, slack))};
}

/// Every call of a plan, those of nested plans included.
void for_each_call(const Plan& plan, const std::function<void(const Call&)>& visit);

void for_each_call(const Value& value, const std::function<void(const Call&)>& visit) {
  if (const auto* plan = std::get_if<Plan>(&value.content)) for_each_call(*plan, visit);
  if (const auto* tuple = std::get_if<Tuple>(&value.content))
    for (const Value& item : tuple->items) for_each_call(item, visit);
  if (const auto* list = std::get_if<List>(&value.content))
    for (const Value& item : list->items) for_each_call(item, visit);
}

void for_each_call(const Plan& plan, const std::function<void(const Call&)>& visit) {
  for (const Line& line : plan.lines) {
    if (const auto* inner = std::get_if<Plan>(&line.source)) for_each_call(*inner, visit);
    if (const auto* call = std::get_if<Call>(&line.source)) {
      visit(*call);
      for (const Argument& argument : call->arguments) for_each_call(argument.value, visit);
    }
    for (const Call& operation : line.operators) visit(operation);
  }
}

/// Whether the plan contains a source that only states a guarantee.
bool holds_claims(const Plan& plan) {
  bool found = false;
  for_each_call(plan, [&](const Call& call) {
    const Word* word = vocabulary().find(Role::source, call.name);
    found = found || (word != nullptr && word->stated);
  });
  return found;
}

constexpr std::uint64_t very_many = std::uint64_t{1} << 62U;

/// The product, limited to the largest integer.
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return a > very_many / b ? very_many : a * b; }

/// The group size that the operator states, or the records of one user.
std::uint64_t records_of(const Call& operation) {
  const Word* word = vocabulary().find(Role::operation, operation.name);
  if (word != nullptr && word->examples != nullptr) return word->examples(Arguments(operation));
  return word != nullptr && word->records != nullptr ? word->records(Arguments(operation)) : 1;
}

/// The smallest group size of the nested plans in a value; empty if there are none.
std::optional<std::uint64_t> least_inside(const std::vector<Value>& values);

std::optional<std::uint64_t> least_inside(const Value& value) {
  if (const auto* plan = std::get_if<Plan>(&value.content)) return records_protected(*plan);
  if (const auto* tuple = std::get_if<Tuple>(&value.content)) return least_inside(tuple->items);
  if (const auto* list = std::get_if<List>(&value.content)) return least_inside(list->items);
  return std::nullopt;
}

std::optional<std::uint64_t> least_inside(const std::vector<Value>& values) {
  std::optional<std::uint64_t> least;
  for (const Value& value : values)
    if (const auto inside = least_inside(value)) least = std::min(least.value_or(*inside), *inside);
  return least;
}

std::uint64_t records_of(const Line& line) {
  std::uint64_t records = 1;
  if (const auto* inner = std::get_if<Plan>(&line.source)) records = records_protected(*inner);
  if (const auto* call = std::get_if<Call>(&line.source)) {
    std::optional<std::uint64_t> least;
    for (const Argument& argument : call->arguments)
      if (const auto inside = least_inside(argument.value)) least = std::min(least.value_or(*inside), *inside);
    records = least.value_or(1);
  }
  for (const Call& operation : line.operators) records = times(records, records_of(operation));
  return records;
}

/// Quotes one word for a shell.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// The usual deltas and the one of the headline, in decreasing order.
std::vector<Number> deltas_with(const Number& headline) {
  std::vector<Number> deltas = {headline};
  for (const char* text : shown_deltas)
    if (Number usual = read_number(text); usual != headline) deltas.push_back(std::move(usual));
  std::sort(deltas.begin(), deltas.end(), [](const Number& a, const Number& b) { return a.value.hi > b.value.hi; });
  return deltas;
}

void find_numbers(Statement& made) {
  const Curve& curve = made.curve;
  const Number& delta = made.headline.first;
  made.headline.second = curve.epsilon_at(delta);
  for (const Number& one : deltas_with(delta)) made.epsilons.emplace_back(one, curve.epsilon_at(one));
  std::vector<Interval> slacks;
  for (const char* text : shown_slacks) slacks.push_back(read_number(text).value);
  made.gaussian = measure_mu(curve, slacks);
  if (made.gaussian.verdict == GdpVerdict::gdp) made.mus.push_back(mu_row(curve, "0", made.gaussian.mu, 0));
  for (std::size_t i = 0; i < slacks.size(); ++i) {
    const GdpPair& pair = made.gaussian.with_slack[i];
    // If rounding raised the slack, the raised slack is stated.
    const std::string told = pair.slack == slacks[i] ? shown_slacks[i] : safe_end(pair.slack, SafeEnd::hi, 6);
    made.mus.push_back(mu_row(curve, told, pair.mu, pair.slack.hi));
  }
  for (const char* text : shown_alphas) made.tradeoff.emplace_back(text, curve.beta_at(read_number(text).value));
  made.risk = find_risk(curve);
  made.balanced = (1.0 - made.risk.advantage) / Interval::exactly(2);  // a symmetric curve has slope -1 where it crosses the diagonal
}

/// Whether some step works on a sample of the records.
bool is_sampled(const Plan& plan) {
  bool found = false;
  for_each_call(plan, [&](const Call& call) {
    const Word* word = vocabulary().find(Role::operation, call.name);
    found = found || (word != nullptr && word->samples);
  });
  return found;
}

/// A rho of zero-concentrated DP; nothing if no theorem gives one, or for sampled plans, whose rho does not profit from the sampling and
/// would say nothing. [renyi-curve]
std::optional<Interval> rho_of(const Plan& plan, const Curve& curve) {
  if (is_sampled(plan)) return std::nullopt;
  try {
    const std::optional<Interval> rho = renyi_curve(plan, curve.neighbours(), curve.tolerance()).zcdp();
    return rho && rho->hi < infinity ? rho : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The plan must account for every published value.
void check_values(const Context& context, const Plan& plan, const Curve& curve) {
  if (context.values.empty()) return;
  const std::optional<AddedNoise> noise = added_noise(plan);
  if (!noise)
    throw DomainError(
        "report: published values need a plan of one line of Gaussian, Laplace, discrete Gaussian or discrete Laplace noise, followed by "
        "repeat and group alone");
  if (context.disjoint && curve.neighbours() != Neighbours::add_remove && curve.neighbours() != Neighbours::zero_out)
    throw DomainError(
        "report: rows about different people need add-remove or zero-out neighbours, because a record that is replaced may change two "
        "rows; "
        "state --neighbours");
  if (!context.disjoint && noise->releases < context.values.size())
    throw DomainError("report: " + std::to_string(context.values.size()) + " published values, but the plan releases " +
                      std::to_string(noise->releases) + "; add | repeat(" + std::to_string(context.values.size()) +
                      "), or state --rows disjoint if each is about other people");
}

}  // namespace

Statement make_statement(Context context, const Plan& plan, const Curve& curve) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return make_statement(context, plan, curve); });

  check_values(context, plan, curve);
  const std::uint64_t records = records_protected(plan);
  const Number delta = context.delta ? *context.delta : read_number(headline_delta);
  Statement made{std::move(context), records, to_string(plan), plan, curve, {delta, {}}, {}, {}, {}, {}, {}, {}, {}};
  made.provenance = provenance_of([&] { find_numbers(made); });
  if (const std::optional<Plan> assumed = assumed_poisson(plan))
    made.assumed_poisson = {to_string(*assumed), analyze(*assumed, curve.neighbours()).epsilon_at(delta)};
  made.rho = rho_of(plan, curve);
  if (made.rho) made.exact_rho = exact_rho(plan, *made.rho);
  if (const auto exact = curve.pure_epsilon()) made.exact_pure = exact->text;
  const std::string mu = exact_mu(plan, curve);
  for (MuRow& row : made.mus)
    if (row.mu.contains(made.gaussian.mu.lo)) row.bound = mu;  // a slack lowers mu
  if (const Interval pure = curve.epsilon_at(Interval::exactly(0)); pure.hi < infinity) made.pure = pure;
  return made;
}

std::uint64_t records_protected(const Plan& plan) {
  std::uint64_t least = very_many;
  for (const Line& line : plan.lines) least = std::min(least, records_of(line));
  return plan.lines.empty() ? 1 : least;
}

std::string records_text(std::uint64_t records) {
  return records == 1 ? "one record of the data" : "any " + std::to_string(records) + " records of the data together";
}

std::string unit_of(const Statement& statement) {
  return statement.context.unit.empty() ? records_text(statement.records) : statement.context.unit;
}

std::string command_for(const std::vector<Statement>& statements) {
  const Statement& one = statements.front();
  std::string command = "tradeoff report";
  const auto add = [&command](const char* option, const std::string& value) {
    if (!value.empty()) command += std::string(" ") + option + " " + shell_word(value);
  };
  if (one.curve.neighbours() != Neighbours::unstated) add("--neighbours", to_word(one.curve.neighbours()));
  if (one.context.delta) add("--delta", one.context.delta->text);
  add("--relative", one.context.relative);
  add("--unit", one.context.unit);
  if (one.context.title != Context{}.title) add("--title", one.context.title);
  add("--date", one.context.date);
  add("--contact", one.context.contact);
  add("--released", one.context.released.empty() && !one.context.values.empty() ? "FILE" : one.context.released);
  if (one.context.disjoint) command += " --rows disjoint";
  add("--audit", one.context.audited);
  for (std::size_t i = 1; i < statements.size(); ++i) add("--compare", statements[i].plan_text);
  return command + " " + shell_word(one.plan_text);
}

std::string neighbours_sentence(Neighbours neighbours) {
  switch (neighbours) {
    case Neighbours::add_remove:
      return "Two data sets are neighbours if one has exactly one record more than the other (add or remove one record).";
    case Neighbours::replace_one:
      return "Two data sets are neighbours if they have the same size and differ in exactly one record (replace one record).";
    case Neighbours::zero_out:
      return "Two data sets are neighbours if they have the same size and differ in exactly one record, which in one of them contributes "
             "nothing (zero out one record).";
    case Neighbours::unstated:
      break;
  }
  return "Which data sets are neighbours: NOT STATED (one record added or removed, or one record replaced).";
}

std::vector<std::string> sampling_assumed(const Plan& plan) {
  std::vector<std::string> sentences;
  const auto add = [&sentences](const std::string& sentence) {
    if (!sentence.empty() && std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(sentence);
  };
  bool sampled = false, drawn = false;
  for_each_call(plan, [&](const Call& call) {
    const Word* const source = vocabulary().find(Role::source, call.name);
    const Word* const word = source != nullptr ? source : vocabulary().find(Role::operation, call.name);
    if (word == nullptr || (!word->samples && word->promise == nullptr)) return;
    sampled = sampled || word->samples;
    drawn = drawn || (word->samples && call.name != "shuffle");
    add(std::string(word->sentence));
    if (word->promise != nullptr) add(word->promise(Arguments(call)));
  });
  if (!sentences.empty() && !sampled) return sentences;
  if (sentences.empty()) return {"None: no privacy is claimed from sampling; every record may take part in every step."};
  std::string secret = "Which records were drawn stays secret.";
  if (drawn)
    secret += " A loader that shuffles the data and cuts it into batches does not sample in this way, and the numbers do not hold for it.";
  sentences.push_back(secret);
  return sentences;
}

bool is_sampled(const Plan& plan) {
  bool sampled = false;
  for_each_call(plan, [&](const Call& call) {
    const Word* const word = vocabulary().find(Role::operation, call.name);
    sampled = sampled || (word != nullptr && word->samples);
  });
  return sampled;
}

std::vector<std::string> not_covered(const Statement& statement) {
  std::vector<std::string> items = {
      "Other releases from the same data. Every further release, an earlier version and the choice of settings on the same data included, "
      "adds to the loss; put all of them into one plan."};
  items.push_back("Someone who is in more than " +
                  (statement.records == 1 ? "one record" : std::to_string(statement.records) + " records") +
                  ": the loss grows with the number of their records.");
  items.push_back(
      "What is true of everybody. An attacker may learn a fact about a group from the result, and apply it to a person who never took "
      "part.");
  if (statement.curve.neighbours() == Neighbours::replace_one) items.push_back("The number of records, which counts as public.");
  if (statement.curve.neighbours() == Neighbours::unstated)
    items.push_back("Which change of one record is meant, adding, removing or replacing it: that is not stated.");
  items.push_back(
      "Whether the computation that was run is the one described here: the clipping, the sensitivity, the sampling, and noise of exactly "
      "the stated distribution from a secure source. Noise in floating point has leaked in the past.");
  if (holds_claims(statement.plan))
    items.push_back(
        "Whether guarantees that the plan only states (of a vendor, of a paper, of a table) are true; they are taken as given.");
  items.push_back(
      "Everything outside the result: who can see the raw data, how it was collected and stored, timing and other side channels, messages "
      "of errors.");
  return items;
}

std::string headline_text(const Statement& statement) {
  const auto& [delta, epsilon] = statement.headline;
  if (!(epsilon.hi < infinity)) return "no finite ε at δ = " + delta.text;
  return "ε ≤ " + claimed(epsilon, SafeEnd::hi) + " at δ = " + delta.text;
}

}  // namespace tradeoff::detail::report
