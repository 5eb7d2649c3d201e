// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "loss/loss.h"

namespace tradeoff::detail {

/// Two probability vectors: `p` with the record, `q` without it.
[[nodiscard]] LossPointer pair_loss(const std::vector<Interval>& p, const std::vector<Interval>& q);

/// The polygon through the given points (alpha, beta) of a trade-off function T(without, with); it is 0 beyond its last point. The points
/// must start at alpha = 0 and end at beta = 0, with alpha increasing, beta not increasing, convex and below 1 - alpha. Otherwise it throws
/// a DomainError that names the row.
[[nodiscard]] LossPointer polygon_loss(const std::vector<std::pair<Interval, Interval>>& points);

}  // namespace tradeoff::detail
