// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// A pair below one epoch of shuffled batches under zero-out neighbours: every other record contributes -1 and this one +1, and only the
/// largest step is seen, in bins. The mean of N(2 mu e_t, I) against the mean of N(mu e_t, I), after post-processing. [shuffled-batches]
[[nodiscard]] LossPointer largest_batch_loss(Interval mu, std::uint64_t batches);

}  // namespace tradeoff::detail
