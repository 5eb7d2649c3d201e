// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tradeoff/curve.h"

namespace tradeoff::report {

/// The trade-off function at many places for the price of one profile: certain like `beta_at`, but only as narrow as a picture needs.
/// Made for curves whose profile is smooth and takes its time; a corner between two samples of the profile shows as a wider interval.
[[nodiscard]] std::vector<Interval> many_betas(const Curve& curve, Direction direction, const std::vector<double>& alphas);

}  // namespace tradeoff::report
