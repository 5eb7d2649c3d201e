// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff {

/// Composes the parts by certified Laplace inversion along vertical lines through the saddle point, both directions. Null if a part
/// offers neither a transform nor a Gaussian mu. Answers that cannot be made tight are wide, never wrong. [contour-inversion]
/// `shorter` may be the contours (Capabilities) of what this function made of parts that these begin with: what it has found out by then is
/// used again. [longer-plan]
[[nodiscard]] LossPointer compose_by_contour(const Parts& parts, const ContourLoss* shorter = nullptr);

/// The same for one mechanism, run as often as the part says, whose losses lie on a lattice: the sum is over one period of the transform
/// and has no end to cut off. Null for anything else. [folded-contour]
[[nodiscard]] LossPointer compose_by_folded_contour(const Parts& parts);

}  // namespace tradeoff
