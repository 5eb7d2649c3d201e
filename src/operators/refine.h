// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff {

/// The tightest symmetric profile that the given one implies: the lower convex hull, in e^e, of its points and their mirrors. A profile
/// of a pair is its own hull once the worse of both directions stands for either. Throws UnsupportedError for a bound of unknown shape.
/// [profile-refinement] [guarantee-hull]
[[nodiscard]] LossPointer refine(LossPointer loss);

/// The loss to ask where convexity is used: a bound of known shape counts by its refinement, all else as it is.
[[nodiscard]] LossPointer convex_form(const LossPointer& loss);

}  // namespace tradeoff
