// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loss/loss.h"

namespace tradeoff::detail {

/// A mechanism and the probability with which it is run.
struct MixtureComponent {
  Interval weight;
  LossPointer loss;
};

/// [observed-mixture] One of several mechanisms is chosen at random and run. The choice is public and independent of the data. Weights must
/// be positive and sum to 1 (DomainError otherwise).
[[nodiscard]] LossPointer mixture_loss(std::vector<MixtureComponent> components);

}  // namespace tradeoff::detail
