// SPDX-License-Identifier: Apache-2.0
#include "noise/digest.h"
#include "numeric/arithmetic.h"
#include "report/margin.h"
#include "report/statement.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::report {
namespace {

// The people who run the plan must fill in a null; the accountant cannot know it.

void write_texts(JsonWriter& out, const std::vector<std::string>& texts) {
  out.begin_array();
  for (const std::string& text : texts) out.text(text);
  out.end_array();
}

void write_epsilons(JsonWriter& out, const Statement& statement) {
  out.begin_array();
  for (const auto& [delta, epsilon] : statement.epsilons)
    out.begin_object().key("delta").text(delta.text).key("epsilon").interval(epsilon).end_object();
  out.end_array();
}

void write_mu(JsonWriter& out, const Statement& statement) {
  const GdpVerdict verdict = statement.gaussian.verdict;
  out.begin_object().key("verdict").text(verdict == GdpVerdict::gdp ? "gdp" : verdict == GdpVerdict::not_gdp ? "not_gdp" : "undecided");
  out.key("pairs").begin_array();
  for (const MuRow& row : statement.mus) {
    out.begin_object().key("slack").raw(row.slack).key("mu").interval(row.mu).key("regret");
    (row.regret ? out.interval(*row.regret) : out.null()).end_object();
  }
  out.end_array().key("warnings");
  write_texts(out, statement.gaussian.warnings);
  out.end_object();
}

void write_tradeoff(JsonWriter& out, const Statement& statement) {
  out.begin_array();
  for (const auto& [alpha, beta] : statement.tradeoff) out.begin_object().key("alpha").raw(alpha).key("beta").interval(beta).end_object();
  out.end_array();
}

/// The pyramid from its top to its base.
void write_nist(JsonWriter& out, const Statement& statement) {
  out.begin_object().key("privacy_parameters");
  write_epsilons(out, statement);
  out.key("unit_of_privacy").text(unit_of(statement));
  out.key("neighbouring_data_sets").text(neighbours_sentence(statement.curve.neighbours()));
  out.key("algorithms_and_correctness").begin_object().key("mechanism").text(statement.plan_text);
  out.key("sampling");
  write_texts(out, sampling_assumed(statement.plan));
  out.key("composition")
      .text(std::string("all steps of the plan on the same data, ") + to_string(statement.provenance.method))
      .key("noise_implementation")
      .null()
      .end_object();
  out.key("query_model").null().key("trust_model").null().key("security_and_access_control").null().key("side_channels").null();
  out.key("data_collection_exposure").null().key("not_covered");
  write_texts(out, not_covered(statement));
  out.end_object();
}

/// The three tiers, each with the fields of those before it.
void write_registry(JsonWriter& out, const Statement& statement) {
  const bool pure = statement.curve.epsilon_at(Interval::exactly(0)).hi < infinity;
  out.begin_object().key("tier_1").begin_object();
  out.key("data_curator").null().key("intended_use").null().key("data_product_description").null().key("publication_date");
  if (statement.context.date.empty())
    out.null();
  else
    out.text(statement.context.date);
  out.end_object();
  out.key("tier_2").begin_object().key("dp_flavor").text(pure ? "pure differential privacy" : "approximate differential privacy");
  out.key("privacy_unit").text(unit_of(statement)).key("privacy_loss_parameters");
  write_epsilons(out, statement);
  out.key("deployment_model").null().end_object();
  out.key("tier_3").begin_object().key("data_domain").null();
  out.key("bound_on_input_distance").text(neighbours_sentence(statement.curve.neighbours()));
  out.key("unprotected_quantities");
  if (statement.curve.neighbours() == Neighbours::unstated)
    out.null();  // the number of records may be an unprotected quantity
  else
    write_texts(out, statement.curve.neighbours() == Neighbours::replace_one ? std::vector<std::string>{"the number of records"}
                                                                             : std::vector<std::string>{});
  out.key("accounting").begin_object().key("composition").text(statement.plan_text);
  out.key("post_processing").text("covered: whatever is computed from the result alone costs nothing").end_object();
  out.key("implementation").begin_object().key("accountant").text("tradeoff " TRADEOFF_VERSION).key("libraries").null();
  out.key("security").null().end_object().key("rationale").null().end_object().end_object();
}

void write_method(JsonWriter& out, const Statement& statement) {
  out.begin_object()
      .key("program")
      .text("tradeoff")
      .key("version")
      .text(TRADEOFF_VERSION)
      .key("method")
      .text(to_string(statement.provenance.method));
  out.key("wanted_relative_width").number(statement.curve.tolerance().relative).key("steps").steps(statement.provenance.steps);
  out.key("command")
      .text(command_for({statement}))
      .key("sha256_of_plan_and_neighbours")
      .text(noise::sha256(statement.plan_text + "\n" + to_word(statement.curve.neighbours())));
  out.end_object();
}

/// What only the publisher knows: null where it is not stated.
void write_publication(JsonWriter& out, const Statement& statement) {
  const auto text_or_null = [&out](const char* name, const std::string& text) {
    out.key(name);
    if (text.empty())
      out.null();
    else
      out.text(text);
  };
  text_or_null("date", statement.context.date);
  text_or_null("contact", statement.context.contact);
  if (const auto& audit = statement.context.audit) {
    out.key("audit").begin_object().key("verdict").text(audit->verdict).key("confidence").text(audit->confidence);
    out.key("pairs").integer(audit->pairs).key("mu_below").number(audit->mu_below).key("advantage_below").number(audit->advantage_below);
    out.key("band").begin_array();
    for (const auto& [epsilon, delta] : audit->band)
      out.begin_object().key("epsilon").number(epsilon).key("delta_below").number(delta).end_object();
    out.end_array().end_object();
  }
  if (statement.context.values.empty()) return;
  out.key("published").begin_object().key("rows").text(statement.context.disjoint ? "disjoint" : "composed");
  out.key("margin_of_error_95").number(added_noise(statement.plan)->margin).key("values").begin_array();
  for (const auto& [label, value] : statement.context.values)
    out.begin_object().key("label").text(label).key("value").text(value).end_object();
  out.end_array().end_object();
}

void write_statement(JsonWriter& out, const Statement& statement) {
  out.begin_object().key("title").text(statement.context.title).key("plan").text(statement.plan_text);
  out.key("unit")
      .text(unit_of(statement))
      .key("records")
      .integer(statement.records)
      .key("neighbours")
      .text(to_word(statement.curve.neighbours()));
  out.key("headline").text(headline_text(statement)).key("epsilon");
  write_epsilons(out, statement);
  out.key("mu");
  write_mu(out, statement);
  out.key("rho_zcdp");
  (statement.rho ? out.interval(*statement.rho) : out.null()).key("pure_epsilon");
  if (statement.pure)
    out.interval(*statement.pure);
  else
    out.null();
  write_publication(out, statement);
  out.key("tradeoff");
  write_tradeoff(out, statement);
  out.key("balanced_error").interval(statement.balanced).key("risk");
  write_json(statement.risk, out);
  out.key("in_plain_words");
  write_texts(out, plain_sentences(statement.risk));
  out.key("sampling_assumed");
  write_texts(out, sampling_assumed(statement.plan));
  if (statement.assumed_poisson) {
    const auto& [plan, epsilon] = *statement.assumed_poisson;
    out.key("poisson_accountant").begin_object().key("plan").text(plan).key("epsilon").interval(epsilon);
    out.key("proved").boolean(false).end_object();
  }
  out.key("not_covered");
  write_texts(out, not_covered(statement));
  out.key("nist_sp_800_226");
  write_nist(out, statement);
  out.key("deployments_registry");
  write_registry(out, statement);
  out.key("model_card").text(model_card(statement)).key("computation");
  write_method(out, statement);
  out.end_object();
}

}  // namespace

std::string to_json(const std::vector<Statement>& statements) {
  JsonWriter out;
  out.begin_object().key("statement");
  write_statement(out, statements.front());
  if (statements.size() > 1) {
    out.key("compared_with").begin_array();
    for (std::size_t i = 1; i < statements.size(); ++i) write_statement(out, statements[i]);
    out.end_array();
  }
  return out.end_object().str() + "\n";
}

}  // namespace tradeoff::detail::report
