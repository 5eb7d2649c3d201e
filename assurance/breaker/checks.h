// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "accountant.h"
#include "trial.h"

// Properties of the answers of every correct accountant. The breaker checks them on extreme plans, the law suite on ordinary ones.
namespace tradeoff::detail::breaker {

/// A failed check: the claim and what contradicts it.
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
  /// The answers for the plan of the trial, analysed once.
  [[nodiscard]] const Answers& answers();
  [[nodiscard]] AnswersPointer answers_of(const Plan& plan) const { return accountant_.analyze(plan, trial_.neighbours, tolerance()); }
  /// 0 .. count - 1, the same number whenever this trial is repeated.
  [[nodiscard]] std::size_t pick(std::size_t count) const;

  static void require(bool holds, const std::string& claim);
  /// Throws Broken unless lo <= hi and neither is NaN.
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
  const char* laws;  ///< the laws T1 .. T25 that it checks, or a, b, c: witness, upper bounds, lower bounds
  double share;      ///< the share of the plans of a long run that it is applied to; some checks cost a hundred times as much as others
  bool (*run)(Examination&);  ///< false if it does not apply to the plan; throws Broken
  const char* claim;
};

[[nodiscard]] std::span<const Check> laws();
[[nodiscard]] std::span<const Check> bounds();
[[nodiscard]] std::span<const Check> sentences();
/// All of them.
[[nodiscard]] std::span<const Check> checks();
/// Throws DomainError for an unknown name.
[[nodiscard]] const Check& find_check(const std::string& name);

}  // namespace tradeoff::detail::breaker
