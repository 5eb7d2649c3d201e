// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "train/trainer.h"

// What the outputs of real steps say about their privacy: a lower bound on mu, to be held against the promised 1/sigma. [step-audit]
namespace tradeoff::train {

/// A step as the auditor sees it: gradients in, noisy sums of integers out.
using AuditedStep = std::function<const std::vector<std::int64_t>&(const std::vector<Factors>&)>;

struct AuditResult {
  std::uint64_t steps = 0;
  std::uint64_t right = 0;  ///< guesses of the canary's secret
  double mu_below = 0;      ///< with 99.9 % confidence no step has a smaller mu for all inputs
  Interval promised;        ///< of a step of the run as it is drawn: at most 1/sigma
  /// Whether the steps are certainly less private than promised, up to that confidence.
  [[nodiscard]] bool exposes() const { return mu_below > promised.hi; }
};

/// The largest p, up to rounding downwards, with P(Binomial(trials, p) >= right) <= chance, by Chernoff's bound; 0 if none. [step-audit]
[[nodiscard]] double success_rate_below(std::uint64_t right, std::uint64_t trials, double chance);

/// Trains for `steps` steps with a canary in every batch: a record whose gradient is far longer than the clipping norm and points one way
/// or the other (fixed-size batches), or is there or not (Poisson), by a fair coin. Each noisy sum, less what the other records contribute,
/// is projected on the canary, and its sign is the guess. `tell` hears now and then how many steps are done.
[[nodiscard]] AuditResult audit(const TrainingTerms& terms, const Examples& examples, std::uint64_t steps, noise::WordStream& words,
                                const std::function<void(std::uint64_t)>& tell = {});
/// The same for a step of one's own.
[[nodiscard]] AuditResult audit(const TrainingTerms& terms, const Examples& examples, std::uint64_t steps, noise::WordStream& words,
                                const AuditedStep& step, const std::function<void(std::uint64_t)>& tell = {});

}  // namespace tradeoff::train
