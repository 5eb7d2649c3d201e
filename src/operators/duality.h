// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/worst_profile.h"

namespace tradeoff::detail {

/// The least epsilon >= 0 whose delta is at most the given one; +infinity if there is none.
[[nodiscard]] Interval invert_profile(const Profile& profile, Interval delta);

/// The trade-off function at alpha: the convex conjugate of the profile over all real epsilon.
[[nodiscard]] Interval dual_beta(const Profile& profile, Interval alpha);
/// 1 minus the trade-off function, to its own relative accuracy: the power of the best test of level alpha.
[[nodiscard]] Interval dual_power(const Profile& profile, Interval alpha);
/// The trade-off function at 1 - complement, 0 < complement < 1, to the relative accuracy of the complement: the least probability without
/// the record of an event whose probability with the record is `complement`.
[[nodiscard]] Interval dual_beta_below_one(const Profile& profile, Interval complement);

}  // namespace tradeoff::detail
