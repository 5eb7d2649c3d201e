// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tradeoff/curve.h"

namespace tradeoff::detail::report {

/// The trade-off function at many points for about the cost of one profile: proved like `beta_at`, but only as narrow as a picture needs.
/// For curves whose profile is smooth but expensive; a corner between two samples of the profile gives a wider interval.
[[nodiscard]] std::vector<Interval> many_betas(const Curve& curve, Direction direction, const std::vector<double>& alphas);

}  // namespace tradeoff::detail::report
