// SPDX-License-Identifier: Apache-2.0
#include "noise/digest.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
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

// What the schema requires and only the publisher knows.
constexpr const char* to_fill_in = "TO FILL IN";

/// Whether this is a date as the registry wants it, 2026-11-17.
bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i != 4 && i != 7 && (text[i] < '0' || text[i] > '9')) return false;
  return true;
}

/// The title as a part of an address: small letters, digits and underscores.
std::string slug_of(const std::string& title) {
  std::string slug;
  for (const char c : title) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || is_capital)
      slug += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!slug.empty() && slug.back() != '_')
      slug += '_';
  }
  while (!slug.empty() && slug.back() == '_') slug.pop_back();
  return slug.empty() ? "privacy_statement" : slug;
}

/// The quantities that the neighbouring relation leaves unprotected.
std::string unprotected_by(Neighbours neighbours) {
  if (neighbours == Neighbours::unstated) return to_fill_in;  // the number of records may be one
  return neighbours == Neighbours::add_remove ? "none" : "the number of records";
}

void write_privacy_loss(JsonWriter& out, const Statement& statement, bool pure) {
  out.key("privacy_loss").begin_object().key("privacy_unit").text(unit_of(statement));
  out.key("privacy_unit_details").text(neighbours_sentence(statement.curve.neighbours()));
  out.key("privacy_parameters").begin_object();
  const auto& [delta, at_delta] = statement.headline;
  const Interval epsilon = pure ? *statement.pure : at_delta;
  if (epsilon.hi < infinity) out.key("epsilon").raw(yaml_number(claimed(epsilon, SafeEnd::hi, pure ? statement.exact_pure : "")));
  const auto exact = numeric::read_decimal(delta.text);  // a quotient is rounded up
  if (!pure) out.key("delta").raw(yaml_number(exact ? to_string(*exact) : safe_end(delta.value, SafeEnd::hi, 6)));
  if (statement.rho) out.key("rho").raw(yaml_number(claimed(*statement.rho, SafeEnd::hi, statement.exact_rho)));
  out.end_object().key("privacy_parameters_details").text("Certified upper bounds: " + headline_text(statement) + ".").end_object();
}

/// An entry for the Deployments Registry of OpenDP, in the form of its published schema (deployments-schema.yaml); JSON is YAML. The
/// publisher replaces TO FILL IN, the date 1900-01-01 of the registry's own template and, if it is wrong, the type of the data product.
void write_registry(JsonWriter& out, const Statement& statement) {
  const bool pure = statement.pure.has_value(), is_training = is_sampled(statement.plan);
  const std::string& date = statement.context.date;
  out.begin_object().key("url_slug").text(slug_of(statement.context.title)).key("status").text("Draft").key("tier").raw("3");
  out.key("deployment").begin_object().key("basic").begin_object().key("name").text(statement.context.title);
  out.key("data_curators").begin_array().text(to_fill_in).end_array().key("intended_use").text(to_fill_in);
  out.key("data_product_type").text(is_training ? "Machine learning model" : "Summary statistics");
  out.key("data_product_region").text(to_fill_in).key("description").text(to_fill_in);
  out.key("publication_date").text(is_date(date) ? date : "1900-01-01").end_object();
  out.key("dp_variant").begin_object().key("variant_name").text(pure ? "Pure DP" : "Approximate DP");
  out.key("data_domain").text(to_fill_in).key("unprotected_quantities").text(unprotected_by(statement.curve.neighbours())).end_object();
  write_privacy_loss(out, statement, pure);
  out.key("accounting").begin_object().key("post_processing").text("Whatever is computed from the result alone costs nothing.");
  out.key("composition").text(statement.plan_text).end_object();
  out.key("implementation").begin_object().key("mechanisms").text(statement.plan_text).key("justification").text(to_fill_in).end_object();
  out.key("administrative").begin_object();
  out.key("notes").text("Accountant: tradeoff " TRADEOFF_VERSION ". To check, run: " + command_for({statement}));
  out.key("registry_authors").begin_array().text(to_fill_in).end_array().end_object();
  out.end_object().end_object();
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
