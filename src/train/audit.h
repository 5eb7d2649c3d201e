// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit/one_run.h"
#include "train/trainer.h"

// Tests on the weights after real steps whether noise, clipping and sampling are as stated [step-audit], and on the weights after one whole
// run with canaries whether it has the privacy of its plan [one-run-audit].
namespace tradeoff::detail::train {

/// A run for the audit. The audit chooses the gradients of the records and reads the weights before and after each step.
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

/// One check: a number, and the range in which it lies if the steps are as stated, except with probability `side_chance` on each side.
struct AuditCheck {
  std::string name;
  double found = 0;
  double least = 0;
  double most = 0;
  [[nodiscard]] bool alarms() const { return !(found >= least && found <= most); }
};

/// What the canaries of one run show.
struct AuditedWhole {
  std::uint64_t steps = 0;     ///< the first steps of the stated run, or all of it
  std::string plan;            ///< of these steps
  std::uint64_t included = 0;  ///< canaries whose coin fell on "included" (replace-one: on the first of two records)
  audit::OneRun shown{};       ///< with the confidence of the audit, all bounds at once
  Interval certified;          ///< epsilon of the plan at `audited_delta`
  bool is_refuted = false;     ///< the plan, with that confidence
};

struct AuditResult {
  std::uint64_t steps = 0;
  std::uint64_t guesses = 0;  ///< guesses of the canary's secret: one in each step of the first part
  std::uint64_t right = 0;
  double mu_below = 0;             ///< with the confidence of the audit, no step is mu-GDP for a smaller mu
  Interval promised;               ///< mu of a step before sampling, from the stated noise
  std::vector<AuditCheck> checks;  ///< if the steps are as stated, all of them hold at once with that confidence
  AuditedWhole whole;
  /// Whether the steps differ from the statement, with that confidence.
  [[nodiscard]] bool exposes() const;
};

/// The probability that an audit of correct steps reports an error, or that `mu_below` is above the truth.
inline constexpr double audit_error = 0.001;
/// Where the epsilon of a whole run is bounded.
inline constexpr double audited_delta = 1e-8;  // guesses about thousands of canaries bound nothing at a delta near 1e-5 [one-run-audit]

/// Audits steps of runs with these terms. The batches of the terms determine only how batches are drawn; the audit chooses its own sizes.
/// Three quarters of the steps guess the secret of a canary, the others test the sampling; all of them test the noise. Then one run as
/// stated, or its first `steps` steps, has canaries among its records. `tell` is called regularly with the number of finished steps. Throws
/// DomainError for fewer than 100 steps.
[[nodiscard]] AuditResult audit(const TrainingTerms& terms, std::uint64_t steps, noise::WordStream& words,
                                const std::function<void(std::uint64_t)>& tell = {});
/// The same for a step implemented by the caller.
[[nodiscard]] AuditResult audit(const TrainingTerms& terms, std::uint64_t steps, noise::WordStream& words, const StartRun& start,
                                const std::function<void(std::uint64_t)>& tell = {});

}  // namespace tradeoff::detail::train
