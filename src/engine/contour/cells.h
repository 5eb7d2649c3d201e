// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff {

/// Two steps in all, one of them with a continuous loss whose tests are known: delta is an average of the other step's profile, bracketed
/// cell by cell. Unconditional, but slower than a contour. Null for anything else. [two-step-cells]
[[nodiscard]] LossPointer compose_by_cells(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff
