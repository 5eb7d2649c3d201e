// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tradeoff/interval.h"

// Bounds on the probability of an event that hold for every number of samples at once. [rate-sequence]
namespace tradeoff::detail::audit {

struct Count {
  std::uint64_t samples = 0;
  std::uint64_t hits = 0;
};

/// Contains the probability of the event at every number of later samples at once, except with probability `error`. The earlier samples,
/// among which the event may have been chosen, only determine where the interval is narrow.
[[nodiscard]] Interval rate_range(Count earlier, Count later, double error);

}  // namespace tradeoff::detail::audit
