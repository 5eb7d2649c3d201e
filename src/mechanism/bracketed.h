// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "mechanism/loss.h"

namespace tradeoff {

/// Seconds of processor time since some moment.
using ProcessorTime = std::function<double()>;
[[nodiscard]] double processor_time();

/// [profile-bracket] The same pair, for whoever reads its profile often and where one reading may be slow (a composition inside an
/// operator, a group). As long as all readings together have taken little time every question is passed on; then the more time they have
/// taken the more is left to what convexity says between the readings there are, and after a few seconds all is: a wider interval that
/// still holds. A pair's profile is convex in e^epsilon, and each direction is the mirror of the other; what is no pair is left as it is.
/// `unhurried`: the seconds of reading during which every question is passed on; all end three and a half seconds later. Half a second is
/// for a part of a plan, of which there may be several.
[[nodiscard]] LossPointer bracketed(LossPointer base, double unhurried = 0.5, ProcessorTime clock = processor_time);

}  // namespace tradeoff
