// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Composes parts of which some have a transform on events of nearly full probability only (Capabilities), by contours of the parts on such
/// events. The smaller delta, the more probable the events. Null if no part is of this kind, or another one has no transform.
/// [truncated-contour]
[[nodiscard]] LossPointer compose_by_truncated_contour(const Parts& parts);

}  // namespace tradeoff::detail
