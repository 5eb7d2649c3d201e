// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/moments/profile_integral.h"
#include "engine/part.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail {

/// The theorem for these parts. Throws UnsupportedError where a third moment is not known to be finite. [berry-esseen]
[[nodiscard]] BerryEsseen berry_esseen_of(Parts parts, const IntegralEffort& effort);
/// The theorem with moments of the stated accuracy; `berry_esseen` takes six digits. [berry-esseen]
[[nodiscard]] BerryEsseen berry_esseen_by(const Plan& plan, Neighbours neighbours, Tolerance tolerance, const IntegralEffort& effort);

}  // namespace tradeoff::detail
