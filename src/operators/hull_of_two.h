// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// The lower convex hull, in e^e, of the smaller of two symmetric profiles, of which the second falls at least as far as the first. It is
/// the profile of the larger of the two trade-off functions. Unlike the minimum it is the profile of a pair, so it can be composed. `owner`
/// records its own theorems and keeps the first profile alive. [guarantee-hull]
[[nodiscard]] LossPointer hull_of_two(LossPointer owner, const Loss& first, LossPointer second);

}  // namespace tradeoff::detail
