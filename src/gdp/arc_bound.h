// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/arc.h"

namespace tradeoff::detail {

/// Whether it is proved that delta <= delta_mu on the part of the arc between two points. [arc-bound]
[[nodiscard]] bool stays_below(const Arc& arc, double mu, double start, double end);

/// The epsilon between two points at which the transform of the arc is about largest, and about how large it is. It proves nothing.
struct ArcPeak {
  double epsilon = 0;
  double mu = 0;
};
[[nodiscard]] ArcPeak peak_of(const Arc& arc, double start, double end);

}  // namespace tradeoff::detail
