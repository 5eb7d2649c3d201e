// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// [sum-inversion] The composition of many finite distributions with too many atoms to list: delta by the trapezoidal rule along the line
/// through its saddle point. Aliasing and rounding are bounded. Beyond the last node the transform is bounded window by window; it must be
/// small nearly everywhere, as it is if many losses are incommensurate. Otherwise the intervals are wide and still valid. Null if some part
/// has no finite distribution.
[[nodiscard]] LossPointer compose_by_inversion(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff::detail
