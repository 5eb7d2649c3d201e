// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "train/trainer.h"

// What the weights after real steps say about the noise, the clipping and the sampling that made them. [step-audit]
namespace tradeoff::train {

/// A run for the audit, which chooses the gradients of the records and reads the weights before and after each step.
class AuditedRun {
 public:
  AuditedRun() = default;
  AuditedRun(const AuditedRun&) = delete;
  AuditedRun& operator=(const AuditedRun&) = delete;
  virtual ~AuditedRun() = default;
  virtual void step() = 0;
  [[nodiscard]] virtual const std::vector<float>& weights() const = 0;
};
using StartRun = std::function<std::unique_ptr<AuditedRun>(const TrainingTerms& terms, RecordSource source, noise::WordStream& words)>;

/// One check: a number, and where it lies if the steps are as stated, up to a chance of `side_chance` on each side.
struct AuditCheck {
  std::string name;
  double found = 0;
  double least = 0;
  double most = 0;
  [[nodiscard]] bool alarms() const { return !(found >= least && found <= most); }
};

struct AuditResult {
  std::uint64_t steps = 0;
  std::uint64_t guesses = 0;  ///< of the canary's secret: one in each step of the first part
  std::uint64_t right = 0;
  double mu_below = 0;             ///< with the confidence of the audit no step has a smaller mu for all inputs
  Interval promised;               ///< mu of a step before sampling, from the stated noise
  std::vector<AuditCheck> checks;  ///< all of them hold at once with that confidence if the steps are as stated
  /// Whether the steps are not what was stated, up to that confidence.
  [[nodiscard]] bool exposes() const;
};

/// The chance that an audit of sound steps raises an alarm, or that `mu_below` is above the truth.
inline constexpr double audit_error = 0.001;

/// Audits steps of runs on these terms. The batches of the terms only say how batches are drawn: the audit chooses its own sizes.
/// Three quarters of the steps guess a canary's secret, the others test the sampling; all of them test the noise. `tell` is called from
/// time to time with the number of steps done. Throws DomainError for fewer than 100 steps.
[[nodiscard]] AuditResult audit(const TrainingTerms& terms, std::uint64_t steps, noise::WordStream& words,
                                const std::function<void(std::uint64_t)>& tell = {});
/// The same for steps of one's own.
[[nodiscard]] AuditResult audit(const TrainingTerms& terms, std::uint64_t steps, noise::WordStream& words, const StartRun& start,
                                const std::function<void(std::uint64_t)>& tell = {});

}  // namespace tradeoff::train
