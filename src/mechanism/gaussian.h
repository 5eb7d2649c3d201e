// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// N(0,1) against N(mu,1): the Gaussian mechanism with mu = sensitivity / sigma, any mu-GDP mechanism, and perfect privacy (mu = 0).
[[nodiscard]] LossPointer gaussian_loss(Interval mu, Citations origin = {});

}  // namespace tradeoff::detail
