// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loss/transform.h"

namespace tradeoff {

/// The transform of discrete Gaussian noise with this sigma and integer shift, in closed form. Null for a sigma below 1, or one that is
/// not known well. [theta-transform]
[[nodiscard]] std::shared_ptr<const Transform> theta_transform(Interval sigma, double shift);

}  // namespace tradeoff
