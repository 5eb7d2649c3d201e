// SPDX-License-Identifier: Apache-2.0
#include "train_report.h"

#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "report/claim.h"

namespace tradeoff::detail::cli {
namespace {

using report::Claim;
using report::SafeEnd;
using train::RunGuarantee;

std::string guarantee_lines(const RunGuarantee& guarantee, const std::vector<std::string>& deltas, bool quiet) {
  const report::Style style{quiet, ""};
  std::string text;
  for (std::size_t i = 0; i < deltas.size(); ++i)
    text += to_text(Claim{"epsilon", guarantee.guarantees[i].epsilon, SafeEnd::hi, "at delta = " + deltas[i], {}}, style);
  if (quiet || guarantee.steps == 0) return text;
  for (std::size_t i = 0; i < guarantee.mu_with_slack.size(); ++i)
    text += to_text(Claim{"mu", guarantee.mu_with_slack[i].mu, SafeEnd::hi, std::string("with slack ") + train::certified_slacks[i], {}},
                    style);
  if (guarantee.limit) {
    std::string digits = numeric::to_text_below(guarantee.limit->value(), 6);
    text += "mu ~ " + digits + " by the central limit theorem, an estimate and not a bound\n";
  }
  text += to_text(Claim{"advantage of any attack", guarantee.advantage, SafeEnd::hi, "over a guess", {}}, style);
  for (const RunGuarantee::Error& error : guarantee.tradeoff)
    text += to_text(Claim{"true-positive rate", 1 - error.beta, SafeEnd::hi, "at false-positive rate " + error.alpha, {}}, style);
  return text + "Plan:  " + guarantee.stated + "\nDrawn: " + guarantee.drawn + "\n";
}

}  // namespace

std::string guarantee_text(const train::Progress& progress, const std::vector<std::string>& deltas, bool quiet) {
  const train::TrainingTerms& terms = progress.terms;
  std::string text = guarantee_lines(train::guarantee_of(terms, progress.steps_done, deltas), deltas, quiet);
  if (progress.steps_done == terms.steps) return text;
  return text + "\nThe run was stopped early. If the moment was chosen by looking at results, claim the planned run instead:\n" +
         guarantee_lines(train::guarantee_of(terms, terms.steps, deltas), deltas, quiet);
}

}  // namespace tradeoff::detail::cli
