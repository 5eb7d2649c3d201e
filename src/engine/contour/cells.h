// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Two steps, one of them with a continuous loss whose tests are known: delta is an average of the other step's profile, enclosed cell by
/// cell. It needs no assumptions, but is slower than a contour. Null for other plans. [two-step-cells]
[[nodiscard]] LossPointer compose_by_cells(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff::detail
