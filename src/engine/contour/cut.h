// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Composes parts of which some are samples of what zCDP implies, or have many values, by a contour without their rarest large losses: the
/// moments of a sample are dominated by losses that never occur. The smaller delta, the less is left out: about `left_out` times delta;
/// every choice is valid. Far out what is left out is counted, too, in one run at a time. Null if no part is of these kinds, or another one
/// has no transform. [cut-contour]
[[nodiscard]] LossPointer compose_by_cut_contour(const Parts& parts, double left_out = 1e-11);

}  // namespace tradeoff::detail
