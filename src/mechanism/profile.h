// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mechanism/loss.h"

namespace tradeoff {

/// A user's own privacy profile: (epsilon, delta)-DP holds for every row, for both orders of a neighbouring pair. Rows must have
/// epsilon >= 0 increasing, delta not increasing and convex in e^epsilon; a fault is a DomainError that names the row.
/// `tail` says what is known beyond the last row: `unknown`, or `zero` if the last delta is 0.
[[nodiscard]] LossPointer profile_loss(const std::vector<std::pair<Interval, Interval>>& rows, const std::string& tail);

}  // namespace tradeoff
