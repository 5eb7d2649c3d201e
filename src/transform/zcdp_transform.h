// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loss/break_points.h"
#include "loss/transform.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// The transform of the symmetric pair that rho-zCDP implies, on a sample of the records; rate 1 for the whole data. Null if rho or the
/// rate is too wide or too extreme. [zcdp-transform]
[[nodiscard]] std::unique_ptr<const Transform> zcdp_transform(Interval rho, Interval rate, SampledBy sampling, Direction direction);

}  // namespace tradeoff::detail
