// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loss/loss.h"

namespace tradeoff {

/// A mechanism that is run with this probability.
struct MixtureComponent {
  Interval weight;
  LossPointer loss;
};

/// [observed-mixture] One of several mechanisms is drawn, the draw is public and independent of the data, and it is run. Weights must be
/// positive and sum to 1 (DomainError otherwise).
[[nodiscard]] LossPointer mixture_loss(std::vector<MixtureComponent> components);

}  // namespace tradeoff
