// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// The interface that the checks question. The library implements it; the tests of the breaker add deliberately wrong accountants.
namespace tradeoff::detail::breaker {

/// The reported risks of attacks; each number is an upper bound for every mechanism that the plan covers.
struct Claims {
  Interval advantage;
  Interval rate;       ///< of true positives
  Interval accuracy;   ///< of the best guess
  Interval posterior;  ///< after the most informative output
  Interval naming;     ///< of the right person
  Interval odds;       ///< the factor on them
  Interval mu;         ///< mu of a pair with a slack; infinite if it was not asked for
};
/// The arguments of the questions.
struct ClaimsAt {
  double false_positives = 1e-3;
  double prior = 0.1;
  std::uint64_t people = 10;
  double chance = 1e-5;  ///< the probability with which an output may multiply the odds by more
  double slack = 0;      ///< of mu; 0 for none
};

/// The answers of an accountant about one plan.
class Answers {
 public:
  virtual ~Answers() = default;
  [[nodiscard]] virtual Interval delta(double epsilon, Direction direction = Direction::worst) const = 0;
  [[nodiscard]] virtual Interval log_delta(double epsilon, Direction direction = Direction::worst) const = 0;
  [[nodiscard]] virtual Interval epsilon(double delta, Direction direction = Direction::worst) const = 0;
  [[nodiscard]] virtual Interval beta(double alpha, Direction direction = Direction::worst) const = 0;
  [[nodiscard]] virtual Interval mu() const = 0;
  [[nodiscard]] virtual Claims claims(const ClaimsAt& at) const = 0;
};
using AnswersPointer = std::shared_ptr<const Answers>;

class Accountant {
 public:
  virtual ~Accountant() = default;
  /// Throws what the library throws.
  [[nodiscard]] virtual AnswersPointer analyze(const Plan& plan, Neighbours neighbours, Tolerance tolerance) const = 0;
  /// The plan extended by `extend`, and both halves as curves combined by `product`.
  [[nodiscard]] virtual AnswersPointer extended(const Plan& first, const Plan& more, Neighbours neighbours, Tolerance tolerance) const = 0;
  [[nodiscard]] virtual AnswersPointer multiplied(const Plan& one, const Plan& other, Neighbours neighbours, Tolerance tolerance) const = 0;
};

/// The library itself.
[[nodiscard]] const Accountant& library();

}  // namespace tradeoff::detail::breaker
