// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/interval.h"

namespace tradeoff::detail::allocation {

/// As expected_excess for two steps: one of them is integrated in closed form, the other by cells. [allocation-replace-one]
[[nodiscard]] Interval two_step_excess(Interval mu, Interval kappa, double wanted);

}  // namespace tradeoff::detail::allocation
