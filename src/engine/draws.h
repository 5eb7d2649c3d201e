// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Runs of which each is one Gaussian or nothing, which is seen, beside plain Gaussians: the mean of Gaussian profiles over the number of
/// Gaussians that were drawn. Null for other parts, and for more numbers than take some milliseconds. [drawn-gaussians]
[[nodiscard]] LossPointer compose_by_draws(const Parts& parts);

}  // namespace tradeoff::detail
