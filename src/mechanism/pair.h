// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "loss/loss.h"

namespace tradeoff {

/// Two probability vectors: `p` with the record, `q` without it.
[[nodiscard]] LossPointer pair_loss(const std::vector<Interval>& p, const std::vector<Interval>& q);

/// The polygon through the given points (alpha, beta) of a trade-off function T(without, with), 0 beyond its last point.
/// The points must run from alpha = 0 down to beta = 0, strictly forward, never up, convex and under 1 - alpha: a fault is a
/// DomainError that names the row.
[[nodiscard]] LossPointer polygon_loss(const std::vector<std::pair<Interval, Interval>>& points);

}  // namespace tradeoff
