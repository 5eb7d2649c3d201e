// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// Whom the checks question. The library is one such accountant; the tests of the breaker are others, which lie.
namespace tradeoff::breaker {

/// What people are told about attacks, each number the upper end of what any mechanism allows that the plan covers.
struct Claims {
  Interval advantage;
  Interval rate;       ///< of true positives
  Interval accuracy;   ///< of the best guess
  Interval posterior;  ///< after the most telling output
  Interval naming;     ///< of the right person
  Interval odds;       ///< the factor on them
  Interval mu;         ///< of a pair with a slack; infinite if it was not asked for
};
/// Where they are asked for.
struct ClaimsAt {
  double false_positives = 1e-3;
  double prior = 0.1;
  std::uint64_t people = 10;
  double chance = 1e-5;  ///< with which an output may multiply the odds by more
  double slack = 0;      ///< of mu; 0 for none
};

/// What an accountant says of one plan.
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
  /// The plan begun and gone on with (`extend`), and both halves as curves of their own (`product`).
  [[nodiscard]] virtual AnswersPointer extended(const Plan& first, const Plan& more, Neighbours neighbours, Tolerance tolerance) const = 0;
  [[nodiscard]] virtual AnswersPointer multiplied(const Plan& one, const Plan& other, Neighbours neighbours, Tolerance tolerance) const = 0;
};

/// The library itself.
[[nodiscard]] const Accountant& library();

}  // namespace tradeoff::breaker
