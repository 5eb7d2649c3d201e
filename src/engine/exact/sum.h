// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"
#include "loss/loss.h"

namespace tradeoff {

/// [sum-inversion] The composition of many finite laws whose atoms are too many to list: delta by the trapezoidal rule along the line
/// through its saddle point. Aliasing and rounding are bounded; beyond the last node the transform is bounded window by window, for which
/// it must be small nearly everywhere, as it is when many losses are incommensurate. Otherwise intervals are wide, and still valid.
/// Null if some part has no finite law.
[[nodiscard]] LossPointer compose_by_inversion(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff
