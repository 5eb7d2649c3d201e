// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loss/transform.h"

namespace tradeoff::detail {

/// The transform of discrete Gaussian noise with this sigma and integer shift, in closed form. Null if sigma is below 1 or its interval is
/// too wide. [theta-transform]
[[nodiscard]] std::shared_ptr<const Transform> theta_transform(Interval sigma, double shift);

}  // namespace tradeoff::detail
