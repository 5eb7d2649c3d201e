// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reading.h"
#include "tradeoff/curve.h"

namespace tradeoff::witness {

/// Computes delta of a plan slowly, in ball arithmetic, by other means than the library: it shares the plan language and nothing else.
/// Under replace-one neighbours, and with several steps under neighbours that nobody fixes, only plans whose mechanisms are symmetric.
class Witness {
 public:
  explicit Witness(const Plan& plan, Neighbours neighbours = Neighbours::unstated);

  /// A ball around delta(epsilon). Throws UnsupportedError where the plan is beyond its reach. A ball may be wide, never wrong.
  [[nodiscard]] Real delta(const Real& epsilon, Direction direction = Direction::worst) const;

 private:
  /// E (1 - exp(e - L))+ or E (exp(e - L) - 1)+ over the finite losses of the whole plan.
  [[nodiscard]] Real read(Side side, const Real& e) const;
  /// The part of it that comes from at most one step with a density: finite sums of closed forms.
  [[nodiscard]] Real read_exactly(Side side, const Real& e) const;

  Laws laws_;
  Real revealed_;
  Real excluded_;
  unsigned long dense_steps_ = 0;
  bool split_ = false;  ///< whether terms with at most one density are taken out of the integral
};

}  // namespace tradeoff::witness
