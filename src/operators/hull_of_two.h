// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff {

/// The lower convex hull, in e^e, of the smaller of two symmetric profiles, the second of which falls at least as far as the first: the
/// profile of the larger of the two trade-off functions. Unlike the minimum itself it is that of a pair, so it composes. `owner` cites
/// itself and keeps the first alive. [guarantee-hull]
[[nodiscard]] LossPointer hull_of_two(LossPointer owner, const Loss& first, LossPointer second);

}  // namespace tradeoff
