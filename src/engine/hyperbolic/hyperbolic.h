// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Composition of few steps by hyperbolic contours around the break points of the transform. Null if a part has no break-point expansion or
/// if there are too many break points. If an answer cannot be proved to the tolerance, its interval is wider and still valid.
/// [bent-contour]
[[nodiscard]] LossPointer compose_by_hyperbolic_contour(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff::detail
