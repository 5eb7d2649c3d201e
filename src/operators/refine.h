// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// The tightest symmetric profile that the given one implies: the lower convex hull, in e^e, of its points and their mirrors. The symmetric
/// profile of a pair is its own hull. Throws UnsupportedError for a bound of unknown shape. [profile-refinement] [guarantee-hull]
[[nodiscard]] LossPointer refine(LossPointer loss);

/// Whether the refinement of a bound of known shape may be smaller than the bound at some epsilon of the interval.
[[nodiscard]] bool may_be_refined(const Loss& bound, Interval epsilon);

/// The loss to use where convexity is needed: the refinement of a bound of known shape, any other loss unchanged.
[[nodiscard]] LossPointer convex_form(const LossPointer& loss);

}  // namespace tradeoff::detail
