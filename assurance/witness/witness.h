// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reading.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail::witness {

/// Computes delta of a plan slowly, in ball arithmetic, independently of the library: it shares only the plan language. Under replace-one
/// neighbours, and for several steps with unstated neighbours, it supports only symmetric mechanisms.
class Witness {
 public:
  explicit Witness(const Plan& plan, Neighbours neighbours = Neighbours::unstated);

  /// A ball around delta(epsilon). Throws UnsupportedError for a plan that it does not support. The ball may be wide, but it is valid.
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
  bool split_ = false;  ///< whether terms with at most one density are computed outside the integral
};

}  // namespace tradeoff::detail::witness
