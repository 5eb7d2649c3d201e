// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "noise/digest.h"
#include "numeric/arithmetic.h"
#include "plan/vocabulary.h"
#include "report/curve_picture.h"
#include "report/margin.h"
#include "report/statement.h"
#include "tradeoff/error.h"
#include "tradeoff/operations.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::report {
namespace {

constexpr std::size_t picture_points = 161;  // enough for a smooth line at the size of a page

std::string most(Interval value, const std::string& exact = {}) {
  return value.hi < infinity ? claimed(value, SafeEnd::hi, exact) : "none";
}
std::string least(Interval value) { return claimed(value, SafeEnd::lo); }
std::string proved(Interval value) { return value.hi < infinity ? between(value) : "no finite value"; }
std::string per_cent_above(Interval value) { return safe_end(value * 100.0, SafeEnd::hi, 3) + " %"; }

std::string meaning_of(const Call& call) {
  for (const Role role : {Role::source, Role::operation})
    if (const Word* word = vocabulary().find(role, call.name)) return std::string(word->meaning);
  return {};
}

std::string text_of(const Value& value);

std::string text_of(const std::vector<Value>& items) {
  std::string text;
  for (const Value& item : items) text += (text.empty() ? "" : ", ") + text_of(item);
  return text;
}

std::string text_of(const Value& value) {
  if (const auto* number = std::get_if<Number>(&value.content)) return number->text;
  if (const auto* text = std::get_if<std::string>(&value.content)) return *text;
  if (const auto* plan = std::get_if<Plan>(&value.content)) return to_string(*plan);
  if (const auto* tuple = std::get_if<Tuple>(&value.content)) return "(" + text_of(tuple->items) + ")";
  if (const auto* list = std::get_if<List>(&value.content)) return "[" + text_of(list->items) + "]";
  return "?";
}

/// Every parameter with its value, including defaults.
std::string parameters_of(const Call& call) {
  std::string text;
  const Word* word = vocabulary().find(Role::source, call.name);
  if (word == nullptr) word = vocabulary().find(Role::operation, call.name);
  if (word == nullptr) return text;
  for (const Parameter& parameter : word->parameters) {
    const auto given = std::find_if(call.arguments.begin(), call.arguments.end(),
                                    [&parameter](const Argument& argument) { return argument.name == parameter.name; });
    if (given == call.arguments.end() && !default_holds(*word, call, parameter)) continue;
    const std::string value = given != call.arguments.end() ? text_of(given->value) : std::string(parameter.fallback);
    text += (text.empty() ? "" : "; ") + as_code(std::string(parameter.name) + " = " + value);
    if (!parameter.meaning.empty()) text += " " + std::string(parameter.meaning);
  }
  return text;
}

Table steps_of(const Plan& plan) {
  Table table{{{"step", "what it means", "parameters"}}};
  for (const Line& line : plan.lines) {
    if (const auto* call = std::get_if<Call>(&line.source))
      table.rows.push_back({as_code(call->name), meaning_of(*call), parameters_of(*call)});
    if (const auto* inner = std::get_if<Plan>(&line.source)) table.rows.push_back({as_code(to_string(*inner)), "all of these", ""});
    for (const Call& operation : line.operators)
      table.rows.push_back({as_code("| " + operation.name), meaning_of(operation), parameters_of(operation)});
  }
  return table;
}

/// What an accountant of Poisson sampling says, beside what is proved for the sampler of the plan.
Table assumed_and_certain(const Statement& statement) {
  const auto& [plan, epsilon] = *statement.assumed_poisson;
  const std::string delta = statement.headline.first.text;
  return {{{"at δ = " + delta, "ε at most", "proved for this plan"},
           {"a Poisson accountant says, for " + as_code(plan), most(epsilon), "no"},
           {"certain", most(statement.headline.second), proved(statement.headline.second)}}};
}

Table epsilons_of(const Statement& statement) {
  Table table{{{"δ", "ε at most", "proved"}}};
  for (const auto& [delta, epsilon] : statement.epsilons) table.rows.push_back({delta.text, most(epsilon), proved(epsilon)});
  return table;
}

Table mus_of(const Statement& statement) {
  Table table{{{"slack", "μ at most", "regret at most", "proved for μ"}}};
  for (const MuRow& row : statement.mus)
    table.rows.push_back({row.slack, most(row.mu, row.bound), row.regret ? safe_end(*row.regret, SafeEnd::hi, 2) : "", proved(row.mu)});
  return table;
}

Table tradeoff_of(const Statement& statement) {
  Table table{{{"false alarms α", "misses β at least", "found at most", "proved for β"}}};
  for (const auto& [alpha, beta] : statement.tradeoff) table.rows.push_back({alpha, least(beta), per_cent_above(1.0 - beta), proved(beta)});
  table.rows.push_back(
      {"as many as misses", least(statement.balanced), per_cent_above(1.0 - statement.balanced), proved(statement.balanced)});
  return table;
}

/// If a posterior can be 1, rare outputs are listed separately. [odds-factor]
void add_beliefs(Table& table, const Risk& risk) {
  for (std::size_t i = 0; i < risk.posteriors.size(); ++i) {
    const RiskRow& any = risk.posteriors[i];
    const RiskRow& usual = risk.beliefs[i];
    const bool bounded = any.value.hi < 1;
    table.rows.push_back({"belief after an output", "prior " + usual.given + ", except with chance " + risk.rare,
                          most(usual.value, usual.exact), usual.exact.empty() ? proved(usual.value) : "exactly " + usual.exact});
    table.rows.push_back({"belief after any output", "prior " + any.given, bounded ? most(any.value, any.exact) : "no bound",
                          bounded ? proved(any.value) : "no bound below 1: an output, however rare, may leave no doubt"});
  }
}

void add_rows(Table& table, const std::string& quantity, const std::string& at, const std::vector<RiskRow>& rows) {
  for (const RiskRow& row : rows)
    table.rows.push_back({quantity, at + row.given, claimed(row.value, SafeEnd::hi, row.exact),
                          row.exact.empty() ? proved(row.value) : "exactly " + row.exact});
}

Table risks_of(const Risk& risk) {
  Table table{{{"what an attacker may reach", "where", "at most", "proved"}}};
  table.rows.push_back({"advantage over guessing", "", most(risk.advantage, risk.exact_advantage),
                        risk.exact_advantage.empty() ? proved(risk.advantage) : "exactly " + risk.exact_advantage});
  add_rows(table, "share of participants found", "false-positive rate ", risk.rates);
  add_rows(table, "accuracy of the best guess", "prior ", risk.accuracies);
  add_beliefs(table, risk);
  add_rows(table, "chance to name one person", "out of ", risk.naming);
  add_rows(table, "factor on the odds", "except with chance ", risk.odds);
  return table;
}

std::string gaussian_sentence(const Statement& statement) {
  switch (statement.gaussian.verdict) {
    case GdpVerdict::gdp:
      return "The whole curve is that of Gaussian noise or better: with slack 0, detecting a person is at least as hard as telling one "
             "draw of N(0, 1) from one of N(μ, 1).";
    case GdpVerdict::not_gdp:
      return "No μ covers the whole curve, so only pairs with a slack are stated.";
    case GdpVerdict::undecided:
      break;
  }
  return "It is not known whether some μ covers the whole curve, so only pairs with a slack are stated.";
}

/// Remarks for the reader of a mu. The warnings of the measurement are for its caller and are not repeated here.
std::vector<std::string> gaussian_remarks(const Statement& statement) {
  constexpr double hardly_private = 6;  // a test with type I error 1% has then a type II error below 0.02%
  std::vector<std::string> remarks;
  const GdpMeasurement& found = statement.gaussian;
  if (found.verdict == GdpVerdict::gdp && found.at_epsilon == infinity)
    remarks.emplace_back("The far tail alone sets the μ with slack 0. A pair with a slack says more.");
  const auto weak = [](const MuRow& row) { return row.mu.lo > hardly_private; };
  if (std::all_of(statement.mus.begin(), statement.mus.end(), weak)) remarks.emplace_back("A μ above 6 is almost no protection.");
  return remarks;
}

Figure figure_of(View view, const std::vector<NamedCurve>& curves) {
  Picture picture = draw_curves(view, curves, Direction::worst, picture_points);
  const std::string title = picture.title;
  return {title, picture.y.label + " over " + picture.x.label, {std::move(picture)}};
}

Gallery pictures_of(const std::vector<NamedCurve>& curves) {
  return {{figure_of(View::tradeoff, curves), figure_of(View::profile, curves)}};
}

std::string order_of(const Curve& one, const Curve& other) {
  try {
    switch (at_least_as_private(one, other).verdict) {
      case Order::yes:
        return "yes";
      case Order::no:
        return "no";
      case Order::undecided:
        break;
    }
    return "undecided";
  } catch (const Error&) {
    return "not comparable";  // their neighbours differ
  }
}

/// The possible extent of a unit that is stated in words.
std::string records_sentence(const Statement& statement) {
  if (statement.context.unit.empty()) return {};
  return "The numbers hold where that is " + std::string(statement.records == 1 ? "" : "at most ") +
         (statement.records == 1 ? "one record" : std::to_string(statement.records) + " records") + " of the data. ";
}

/// One column per statement, with the same numbers side by side.
void add_comparison(Document& document, const std::vector<Statement>& statements) {
  std::vector<NamedCurve> curves;
  Table names{{{"", "plan", "neighbours", "method"}}};
  Table numbers{{{"at most"}}};
  std::vector<std::vector<std::string>> rows;
  const auto& first = statements.front();
  for (const auto& [delta, epsilon] : first.epsilons) rows.push_back({"ε at δ = " + delta.text});
  for (const char* slack : {"1e-5", "1e-8", "1e-10"}) rows.push_back({std::string("μ with slack ") + slack});
  rows.push_back({"advantage over guessing"});
  for (const RiskRow& row : first.risk.rates) rows.push_back({std::string("found at false-positive rate ") + row.given});
  rows.push_back({"at least as private as A"});
  for (std::size_t k = 0; k < statements.size(); ++k) {
    const Statement& one = statements[k];
    const std::string name(1, static_cast<char>('A' + k));
    curves.push_back({name + ": " + one.plan_text, one.curve});
    names.rows.push_back({name, as_code(one.plan_text), to_word(one.curve.neighbours()), to_string(one.provenance.method)});
    numbers.rows.front().push_back(name);
    std::size_t i = 0;
    for (const auto& [delta, epsilon] : one.epsilons) rows[i++].push_back(most(epsilon));
    for (std::size_t m = one.mus.size() - 3; m < one.mus.size(); ++m) rows[i++].push_back(most(one.mus[m].mu, one.mus[m].bound));
    rows[i++].push_back(most(one.risk.advantage, one.risk.exact_advantage));
    for (const RiskRow& row : one.risk.rates) rows[i++].push_back(per_cent_above(row.value));
    rows[i++].push_back(k == 0 ? "" : order_of(one.curve, first.curve));
  }
  numbers.rows.insert(numbers.rows.end(), rows.begin(), rows.end());
  document.blocks.emplace_back(Heading{"Compared with other plans"});
  document.blocks.emplace_back(std::move(names));
  document.blocks.emplace_back(std::move(numbers));
  document.blocks.emplace_back(
      Paragraph{"A smaller number is more private. Two plans may be better than each other at different places; only a “yes” in "
                "the last line means that one protects at least as well against every attack."});
  document.blocks.emplace_back(pictures_of(curves));
}

/// The guarantees to quote, each with its meaning.
Table numbers_of(const Statement& statement) {
  Table table{{{"guarantee", "at most", "what it means"}}};
  const auto& [delta, epsilon] = statement.headline;
  table.rows.push_back(
      {"ε at δ = " + delta.text, most(epsilon), "(ε, δ)-differential privacy. For several releases, add the ε and add the δ"});
  if (statement.pure)
    table.rows.push_back({"ε at δ = 0", most(*statement.pure, statement.exact_pure),
                          "pure differential privacy: no output multiplies anyone's odds by more than e^ε"});
  if (statement.rho)
    table.rows.push_back(
        {"ρ", most(*statement.rho, statement.exact_rho), "zero-concentrated differential privacy. For several releases, add the ρ"});
  for (const MuRow& row : statement.mus) {
    const bool first = &row == &statement.mus.front(), last = &row == &statement.mus.back();
    if (!row.regret || !(row.slack == "0" || last)) continue;
    if (!first && most(row.mu, row.bound) == most(statement.mus.front().mu, statement.mus.front().bound) &&
        statement.mus.front().slack == "0")
      continue;  // the slack gains nothing
    table.rows.push_back({row.slack == "0" ? "μ" : "μ, slack " + row.slack, most(row.mu, row.bound),
                          row.slack == "0" ? "Gaussian differential privacy. For several releases, add the squares of μ"
                                           : "Gaussian differential privacy, except with probability " + row.slack +
                                                 ". For several releases, add the squares of μ and add the slacks"});
  }
  table.rows.push_back({"advantage", most(statement.risk.advantage, statement.risk.exact_advantage),
                        "of any attack over guessing who took part: 0 is none, 1 is certainty"});
  return table;
}

/// The published values with their labels and the margin of error of the noise.
void add_values(Document& document, const Statement& statement) {
  if (statement.context.values.empty()) return;
  const double margin = added_noise(statement.plan)->margin;
  const std::string shown = safe_end(Interval::exactly(margin), SafeEnd::hi, 4);
  Table table{{{"", "published", "margin of error"}}};
  for (const auto& [label, value] : statement.context.values) table.rows.push_back({label, value, "± " + shown});
  document.blocks.emplace_back(Heading{"Published values"});
  document.blocks.emplace_back(Paragraph{
      "Each value is the true one plus noise. The margin of error is that of the noise alone: at most 5 of 100 values are further off. " +
      std::string(statement.context.disjoint
                      ? "Every row is about different people, so each person is protected as if their row were the only one."
                      : "All rows may be about the same people; the plan accounts for all of them together.")});
  document.blocks.emplace_back(std::move(table));
}

/// When, and whom to ask, if that is stated.
void add_publisher(Document& document, const Context& context) {
  std::string text = context.date.empty() ? "" : "Published: " + context.date + ".";
  if (!context.contact.empty()) text += std::string(text.empty() ? "" : " ") + "Contact: " + context.contact + ".";
  if (!text.empty()) document.blocks.emplace_back(Paragraph{text});
}

void add_check(Document& document, const std::vector<Statement>& statements) {
  const Statement& statement = statements.front();
  document.blocks.emplace_back(Heading{"How to check"});
  document.blocks.emplace_back(Paragraph{"Computed by tradeoff " TRADEOFF_VERSION
                                         ". Every number is the safe end of an interval that is proved to hold the truth, rounded to "
                                         "that side; the intervals and the theorems are in the appendix. SHA-256 of plan and neighbours: " +
                                         as_code(noise::sha256(statement.plan_text + "\n" + to_word(statement.curve.neighbours()))) +
                                         ". To check, run"});
  document.blocks.emplace_back(Verbatim{command_for(statements), "sh"});
}

void add_method(Document& document, const Statement& statement) {
  document.blocks.emplace_back(Heading{"Method"});
  document.blocks.emplace_back(
      Paragraph{"Method: " + std::string(to_string(statement.provenance.method)) +
                ". All errors of truncation, discretisation and rounding are part of the intervals. Proofs of the theorems, floating point "
                "included, are in the folder `theory` of the documentation."});
  Table steps{{{"theorem", "use"}}};
  for (const Step& step : statement.provenance.steps) steps.rows.push_back({as_code(step.theorem), step.detail});
  document.blocks.emplace_back(std::move(steps));
}

}  // namespace

std::string yaml_number(std::string text) {
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

std::string model_card(const Statement& statement) {
  const auto& [delta, epsilon] = statement.headline;
  const auto quoted = [](const std::string& text) {
    JsonWriter out;
    return out.text(text).str();  // a JSON string is also a YAML string
  };
  std::string text = "differential_privacy:\n";
  text += "  epsilon: " + (epsilon.hi < infinity ? yaml_number(claimed(epsilon, SafeEnd::hi)) : std::string(".inf")) + "\n";
  text += "  delta: " + yaml_number(delta.text) + "\n";
  for (const MuRow& row : statement.mus)
    if (row.slack == "1e-10" && row.regret)
      text += "  mu: " + yaml_number(claimed(row.mu, SafeEnd::hi, row.bound)) + "\n  mu_slack: " + yaml_number(row.slack) +
              "\n  mu_regret: " + yaml_number(safe_end(*row.regret, SafeEnd::hi, 2)) + "\n";
  text += "  unit_of_privacy: " + quoted(unit_of(statement)) + "\n";
  text += std::string("  neighbours: ") + to_word(statement.curve.neighbours()) + "\n";
  text += "  mechanism: " + quoted(statement.plan_text) + "\n";
  text +=
      "  membership_inference_advantage: " + yaml_number(claimed(statement.risk.advantage, SafeEnd::hi, statement.risk.exact_advantage)) +
      "\n";
  if (statement.rho) text += "  rho_zcdp: " + yaml_number(claimed(*statement.rho, SafeEnd::hi, statement.exact_rho)) + "\n";
  if (!statement.context.date.empty()) text += "  date: " + quoted(statement.context.date) + "\n";
  if (!statement.context.contact.empty()) text += "  contact: " + quoted(statement.context.contact) + "\n";
  text += "  accountant: " + quoted("tradeoff " TRADEOFF_VERSION ", certified upper bounds") + "\n";
  return text;
}

Document to_document(const std::vector<Statement>& statements) {
  const Statement& one = statements.front();
  Document document{one.context.title, {}};
  auto& blocks = document.blocks;
  const auto add = [&blocks](Block block) { blocks.push_back(std::move(block)); };
  add_publisher(document, one.context);
  add(Highlight{"Certified: " + headline_text(one) + ", for " + unit_of(one) + "."});
  add(Paragraph{plain_introduction});
  add(Listing{plain_sentences(one.risk)});
  add(Heading{"What is protected"});
  add(Paragraph{"Unit of privacy: " + unit_of(one) + ". " + records_sentence(one) + neighbours_sentence(one.curve.neighbours())});
  add(Heading{"In numbers"});
  add(numbers_of(one));
  add_values(document, one);
  add(pictures_of({{"this plan", one.curve}}));
  add(Heading{"What was run"});
  add(Verbatim{one.plan_text, ""});
  add(steps_of(one.plan));
  add(Heading{"Sampling assumed"});
  add(Listing{sampling_assumed(one.plan)});
  if (one.assumed_poisson) add(assumed_and_certain(one));
  if (one.context.audit) add_audit(document, *one.context.audit, one.curve);
  add(Heading{"What is not covered"});
  add(Listing{not_covered(one)});
  add_check(document, statements);
  add(Appendix{"Appendix: proved intervals and method"});
  add(Heading{"ε and δ"});
  add(Paragraph{
      "The result is (ε, δ)-differentially private for each of these pairs. δ should be far below one over the number of people."});
  add(epsilons_of(one));
  add(Heading{"Gaussian differential privacy"});
  add(Paragraph{gaussian_sentence(one)});
  add(mus_of(one));
  add(
      Paragraph{"Slack: with at most this chance everything may be revealed. Regret: how much the error rates of attacks are understated "
                "if only μ and "
                "slack are known; below 0.01 they say nearly all there is to say."});
  if (const auto remarks = gaussian_remarks(one); !remarks.empty()) add(Listing{remarks});
  add(Heading{"Trade-off between an attacker's errors"});
  add(tradeoff_of(one));
  add(Heading{"Risk"});
  add(risks_of(one.risk));
  if (statements.size() > 1) add_comparison(document, statements);
  add(Heading{"For a model card"});
  add(Verbatim{model_card(one), "yaml"});
  add_method(document, one);
  return document;
}

}  // namespace tradeoff::detail::report
