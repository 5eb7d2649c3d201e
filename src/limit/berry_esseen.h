// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/moments/profile_integral.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail {

/// The theorem with moments of the stated accuracy; `berry_esseen` takes six digits. [berry-esseen]
[[nodiscard]] BerryEsseen berry_esseen_by(const Plan& plan, Neighbours neighbours, Tolerance tolerance, const IntegralEffort& effort);

}  // namespace tradeoff::detail
