// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The largest probabilities to keep the key of a partition with 1, 2, ... users under (epsilon, delta)-DP; the last is 1.
/// [partition-selection]
[[nodiscard]] std::vector<Interval> optimal_keep(Interval epsilon, Interval delta);

/// The pair of one partition whose key is kept with these probabilities, for 1 user, 2 users and so on. [partition-selection]
[[nodiscard]] LossPointer partition_selection(const std::vector<Interval>& keep, const std::string& key);

}  // namespace tradeoff::detail
