// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curve/profile.h"

namespace tradeoff {

/// The least epsilon >= 0 whose delta is at most the given one; +infinity where none is.
[[nodiscard]] Interval invert_profile(const Profile& profile, Interval delta);

/// The trade-off function at alpha: the conjugate of the profile over all real epsilon.
[[nodiscard]] Interval dual_beta(const Profile& profile, Interval alpha);

}  // namespace tradeoff
