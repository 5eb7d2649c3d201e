// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gdp/measured_profile.h"

namespace tradeoff::detail {

/// A supremum of the transform: an enclosure, and the position of the best point found.
struct Supremum {
  Interval mu;
  double at_epsilon = 0;
};

/// The supremum over [0, last] of mu_GDP(e, (delta(e) - slack)+ / (1 - slack)). The upper end uses only that the exact profile is convex in
/// e^e. The search stops at `relative` width, where the width of the profile allows no better, or once the supremum is proved to be at most
/// `enough`, below which the caller does not need it. [chord-bound] [log-line-bound]
[[nodiscard]] Supremum chord_supremum(MeasuredProfile& profile, double last, Interval slack, double relative, double enough = 0);

}  // namespace tradeoff::detail
