// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff {

/// Composition of few steps by contours bent around the break points of the transform. Null if a part has no break-point expansion
/// or if there are too many of them. Answers that cannot be certified to the tolerance are wider, never wrong. [bent-contour]
[[nodiscard]] LossPointer compose_by_hyperbolic_contour(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff
