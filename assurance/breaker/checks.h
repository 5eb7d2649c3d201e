// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "accountant.h"
#include "trial.h"

// What must hold of any accountant's answers. The breaker tries it on hostile plans, the law suite on ordinary ones.
namespace tradeoff::breaker {

/// A check that failed: what was claimed and what contradicts it.
class Broken final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One trial before one accountant.
class Examination {
 public:
  Examination(const Trial& trial, const Accountant& accountant) : trial_(trial), accountant_(accountant) {}

  [[nodiscard]] const Trial& trial() const { return trial_; }
  [[nodiscard]] const Plan& plan() const { return trial_.plan; }
  [[nodiscard]] const Accountant& accountant() const { return accountant_; }
  [[nodiscard]] Tolerance tolerance() const { return {trial_.tolerance}; }
  /// The accountant's answers for the plan of the trial, analysed once.
  [[nodiscard]] const Answers& answers();
  [[nodiscard]] AnswersPointer answers_of(const Plan& plan) const { return accountant_.analyze(plan, trial_.neighbours, tolerance()); }
  /// 0 .. count - 1, the same whenever this trial is examined.
  [[nodiscard]] std::size_t pick(std::size_t count) const;

  static void require(bool holds, const std::string& claim);
  /// lo <= hi and not NaN, or the claim is broken.
  static void require_at_most(double low, double high, const std::string& claim);
  /// Both enclose the same number.
  static void require_meet(Interval one, Interval other, const std::string& claim);
  /// The number in the first is at most that in the second.
  static void require_order(Interval smaller, Interval larger, const std::string& claim);

 private:
  const Trial& trial_;
  const Accountant& accountant_;
  AnswersPointer answers_;
};

struct Check {
  const char* name;
  const char* laws;           ///< which of T1 .. T25 it holds the answers to, or a, b, c: witness, bounds above, bounds below
  double share;               ///< of the plans of a long run, because some checks cost a hundred times what others do
  bool (*run)(Examination&);  ///< false if it has nothing to say about the plan; throws Broken
  const char* claim;
};

[[nodiscard]] std::span<const Check> laws();
[[nodiscard]] std::span<const Check> bounds();
[[nodiscard]] std::span<const Check> sentences();
/// All of them.
[[nodiscard]] std::span<const Check> checks();
/// Throws DomainError for a name that no check has.
[[nodiscard]] const Check& find_check(const std::string& name);

}  // namespace tradeoff::breaker
