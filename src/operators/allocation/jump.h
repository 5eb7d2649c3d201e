// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail::allocation {

/// E (S - k; some summand > m) / T for strikes k <= m, S a sum of T lognormal summands exp(s z - s^2/2): the payoff is then linear in S and
/// in k. The cut m is that of z = `cut`. [allocation-jump]
class Jump {
 public:
  Jump(double s, double steps, Interval cut) : steps_(Interval::exactly(steps)) {
    const Interval beyond = normal_cdf(-cut), mean_beyond = normal_cdf(Interval::exactly(s) - cut);
    sum_ = -expm1((steps_ - 1.0) * log1p(-beyond) + log1p(-mean_beyond));
    some_ = -expm1(steps_ * log1p(-beyond));
  }
  Jump(double s, double steps, double cut) : Jump(s, steps, Interval::exactly(cut)) {}

  [[nodiscard]] Interval at(double strike) const { return max(sum_ - Interval::exactly(strike) / steps_ * some_, Interval::exactly(0)); }

 private:
  Interval steps_;
  Interval sum_;   // E (S; some summand > m) / T
  Interval some_;  // P(some summand > m)
};

}  // namespace tradeoff::detail::allocation
