// SPDX-License-Identifier: Apache-2.0
#include "train_report.h"

#include <cmath>

#include "estimate.h"
#include "noise/digest.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "report/claim.h"

namespace tradeoff::cli {
namespace {

using report::Claim;
using report::JsonWriter;
using report::SafeEnd;
using train::Guarantee;

void write_terms(const train::TrainingTerms& terms, JsonWriter& out) {
  const train::DrawnStep drawn = train::drawn_step(terms);
  std::visit(
      [&](const auto& batches) {
        out.key("sampling").text(batches.name()).key("batch").integer(batches.size()).key("records").integer(batches.of());
      },
      terms.batches);
  out.key("noise").text(terms.noise.text).key("clip").text(terms.clip.text).key("learning_rate").number(terms.learning_rate);
  out.key("features").text(terms.features).key("weights").integer(train::Model(terms.shape).weights().size());
  out.key("drawn").begin_object().key("law").text("rounded gaussian").key("grid").text("2^" + std::to_string(drawn.grid.exponent()));
  out.key("contribution").integer(drawn.grid.bound()).key("sensitivity").integer(drawn.sensitivity);
  out.key("scale").begin_object().key("numerator").integer(drawn.scale.numerator).key("power").raw(std::to_string(-drawn.scale.exponent));
  out.end_object().end_object();
}

void write_guarantee(const Guarantee& guarantee, JsonWriter& out) {
  out.begin_object().key("steps").integer(guarantee.steps).key("plan").text(guarantee.stated).key("drawn_plan").text(guarantee.drawn);
  out.key("epsilon").begin_array();
  for (const Guarantee::Point& point : guarantee.epsilons)
    out.begin_object().key("delta").raw(point.delta).key("epsilon").interval(point.epsilon).end_object();
  out.end_array().key("mu_with_slack").begin_array();
  for (const GdpPair& pair : guarantee.mu_with_slack)
    out.begin_object().key("slack").interval(pair.slack).key("mu").interval(pair.mu).end_object();
  out.end_array();
  if (guarantee.limit) write_estimate(out.key("clt_mu"), *guarantee.limit);
  out.key("advantage").interval(guarantee.advantage).key("attacks").begin_array();
  for (const Guarantee::Error& error : guarantee.tradeoff)
    out.begin_object().key("fpr").raw(error.alpha).key("tpr").interval(1 - error.beta).end_object();
  out.end_array().key("tradeoff").begin_array();
  for (const Guarantee::Error& error : guarantee.tradeoff)
    out.begin_object().key("alpha").raw(error.alpha).key("beta").interval(error.beta).end_object();
  out.end_array();
  if (guarantee.curve) out.key("method").text(guarantee.curve->method());
  out.end_object();
}

std::string guarantee_lines(const Guarantee& guarantee, bool quiet) {
  const report::Style style{quiet, ""};
  std::string text;
  for (const Guarantee::Point& point : guarantee.epsilons)
    text += to_text(Claim{"epsilon", point.epsilon, SafeEnd::hi, "at delta = " + point.delta, {}}, style);
  if (quiet || guarantee.steps == 0) return text;
  for (std::size_t i = 0; i < guarantee.mu_with_slack.size(); ++i)
    text += to_text(Claim{"mu", guarantee.mu_with_slack[i].mu, SafeEnd::hi, std::string("with slack ") + train::certified_slacks[i], {}},
                    style);
  if (guarantee.limit) {
    std::string digits = numeric::to_text_below(guarantee.limit->value(), 6);
    text += "mu ~ " + digits + " by the central limit theorem, an estimate and not a bound\n";
  }
  text += to_text(Claim{"advantage of any attack", guarantee.advantage, SafeEnd::hi, "over a guess", {}}, style);
  for (const Guarantee::Error& error : guarantee.tradeoff)
    text += to_text(Claim{"true-positive rate", 1 - error.beta, SafeEnd::hi, "at false-positive rate " + error.alpha, {}}, style);
  return text + "Plan:  " + guarantee.stated + "\nDrawn: " + guarantee.drawn + "\n";
}

}  // namespace

TrainingCertificate certify_training(const train::Progress& progress, const std::vector<std::string>& deltas) {
  const train::TrainingTerms& terms = progress.terms;
  const Guarantee done = train::guarantee_of(terms, progress.steps_done, deltas);
  const Guarantee planned = progress.steps_done == terms.steps ? done : train::guarantee_of(terms, terms.steps, deltas);
  const std::string statement = "version = " TRADEOFF_VERSION "\n" + train::statement_of(terms, done, planned);
  return {terms, done, planned, statement, noise::sha256(statement)};
}

std::string to_json(const TrainingCertificate& certificate) {
  JsonWriter out;
  out.begin_object().key("version").text(TRADEOFF_VERSION);
  out.key("neighbours").text(report::to_word(train::neighbours_of(certificate.terms)));
  write_terms(certificate.terms, out);
  write_guarantee(certificate.done, out.key("guarantee"));
  if (certificate.done.steps != certificate.planned.steps) write_guarantee(certificate.planned, out.key("guarantee_of_planned"));
  out.key("statement").text(certificate.statement).key("digest").text("sha256:" + certificate.digest);
  return out.end_object().str();
}

std::string to_lines(const TrainingCertificate& certificate, bool quiet) {
  std::string text = guarantee_lines(certificate.done, quiet);
  if (certificate.done.steps == certificate.planned.steps) return text;
  return text + "\nThe run was stopped early. If the moment was chosen by looking at results, claim the planned run instead:\n" +
         guarantee_lines(certificate.planned, quiet);
}

}  // namespace tradeoff::cli
