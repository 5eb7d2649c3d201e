// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loss/transform.h"
#include "transform/iterated_curve.h"

namespace tradeoff::detail {

/// The transform of the loss of a group, the same in both directions. `curve` must outlive it. Null if the curve has no pieces or the
/// group is too large. [group-transform]
[[nodiscard]] std::unique_ptr<const Transform> group_transform(const IteratedCurve& curve);

}  // namespace tradeoff::detail
