// SPDX-License-Identifier: Apache-2.0
#include "report/paper_sentence.h"

#include "numeric/arithmetic.h"
#include "report/claim.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::report {
namespace {

std::string batches_of(const SgdRun& run) {
  const std::string batch = std::to_string(run.batch), examples = std::to_string(run.examples);
  switch (run.sampling) {
    case Sampling::poisson:
      return "Poisson-sampled batches (rate q = " + batch + "/" + examples +
             (run.at_most ? ", at most " + std::to_string(*run.at_most) + " examples" : "") + ")";
    case Sampling::fixed:
      return "batches of " + batch + " of the " + examples + " examples, each a fresh sample without replacement";
    case Sampling::shuffled:
      return "batches of " + batch + " cut from the " + examples + " examples, shuffled " +
             (run.reuse ? "once for all epochs" : "before each epoch");
    case Sampling::allocated:
      return "batches of " + batch + " on average, where each of the " + examples + " examples joins one random step of each epoch" +
             (run.reuse ? ", the same in all epochs" : "");
    case Sampling::cyclic:
      break;
  }
  return "Poisson-sampled batches of " + batch + " on average from one of " + std::to_string(run.groups.value_or(1)) + " groups in turn, " +
         examples + " examples in all";
}

std::string steps_of(const SgdRun& run) {
  return std::to_string(run.steps ? *run.steps : steps_of_epochs(*run.epochs, run.batch, run.examples));
}

}  // namespace

std::string sentence_for_paper(const SgdRun& run, Interval epsilon, const Number& delta) {
  const SgdPlan training = to_plan(run);
  std::string text = "We train with DP-SGD for T = " + steps_of(run) + " steps on " + batches_of(run) +
                     ", with noise multiplier σ = " + run.noise_multiplier +
                     (run.noise_is_total ? " for all releases on a batch together" : "") + " relative to the clipping norm";
  if (!run.matrix.empty()) text += " and noise correlated over the steps (" + run.matrix + ")";
  text += ". ";
  if (!training.releases.empty()) text += training.releases + " ";
  const bool finite = epsilon.hi < infinity;
  text += finite ? "The run is (ε, δ)-differentially private with ε = " + claimed(epsilon, SafeEnd::hi) + " and δ = " + delta.text
                 : "No finite ε is proved at δ = " + delta.text;
  text += std::string(" for ") + training.protects + " under " + to_word(training.neighbours) +
          " neighbours, a certified bound of tradeoff " + TRADEOFF_VERSION + " for the plan `" + training.plan + "`.";
  return text;
}

}  // namespace tradeoff::detail::report
