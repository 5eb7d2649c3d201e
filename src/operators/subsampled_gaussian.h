// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "mechanism/gaussian.h"

namespace tradeoff::detail {

/// Gaussian noise with mu = sensitivity / sigma on a Poisson sample: every record is taken with probability `rate`, independently. remove:
/// P = (1 - rate) N(0,1) + rate N(mu,1) against Q = N(0,1); add is the same pair swapped. Add-remove neighbours. Requires 0 < mu < infinity
/// and 0 < rate < 1. It has a transform, so the contour engine can compose it.
[[nodiscard]] LossPointer subsampled_gaussian(Interval mu, Interval rate, GaussianOf of = GaussianOf::curve);

}  // namespace tradeoff::detail
