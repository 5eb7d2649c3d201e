// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/moments/profile_integral.h"
#include "loss/loss.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail {

/// E L^k, k = 1..4, of a pair, symmetric or not; the upper ends are infinite if no bound on the tail is proved.
struct PowerMoments {
  Interval first, second, third, fourth;
};

/// For a profile in closed form: six digits for answers, four for estimates and for the choice of a method.
inline constexpr IntegralEffort thorough{1e-7, 6000};
inline constexpr IntegralEffort quick{1e-4, 200};

/// `direction` as in a question: `worst` is the symmetric curve below both orders. The loss must be a pair; `tails` are further proved
/// bounds of its profile. If its profile is itself a search, the effort is `quick`. [loss-moments]
[[nodiscard]] LossMoments loss_moments(const Loss& loss, Direction direction, const IntegralEffort& effort = thorough,
                                       const std::vector<ExponentialTail>& tails = {});
[[nodiscard]] PowerMoments power_moments(const Loss& loss, Direction direction, const IntegralEffort& effort = quick);

/// Whether the loss is infinite with a probability that is certainly positive.
[[nodiscard]] bool reveals(const Loss& loss, Direction direction);

/// Lemma 3 of Dong, Roth and Su without cancellation: exp(mu^2) Phi(3 mu/2) + 3 Phi(-mu/2) - 2. [loss-moments]
[[nodiscard]] Interval gaussian_chi2plus(Interval mu);

}  // namespace tradeoff::detail
