// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// A pair of equal laws.
[[nodiscard]] LossPointer nothing_seen();

/// Gaussian noise on a Poisson sample: the record is drawn with the rate, and then moves the sum by at most mu standard deviations.
/// `clipped`: the norm of every contribution is bounded, by mu / 2 under replace-one neighbours. Any rate in [0, 1] and any mu >= 0.
/// [poisson-subsampling] [poisson-replace-one]
[[nodiscard]] LossPointer drawn_gaussian(Interval mu, Interval rate, bool clipped, Neighbours neighbours);

}  // namespace tradeoff::detail
