// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Composes the parts by certified Laplace inversion along vertical lines through the saddle point, in both directions. Null if a part has
/// neither a transform nor a Gaussian mu. If an answer cannot be made tight, its interval is wide and still valid. [contour-inversion]
/// `shorter` may be the contours (Capabilities) of an earlier result of this function for the parts that these begin with; its lines are
/// reused. [longer-plan]
[[nodiscard]] LossPointer compose_by_contour(const Parts& parts, const ContourLoss* shorter = nullptr);

/// Encloses log E[(1 - e^(epsilon - L))+; L finite] of such a composition, epsilon >= 0.
[[nodiscard]] Interval log_finite_delta(const ContourLoss& contour, Direction direction, Interval epsilon);

/// The same for one mechanism, run as often as the part states, whose losses lie on a lattice: the sum extends over one period of the
/// transform, so there is no truncation. Null for other parts. [folded-contour]
[[nodiscard]] LossPointer compose_by_folded_contour(const Parts& parts);

}  // namespace tradeoff::detail
