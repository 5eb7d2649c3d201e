// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "tradeoff/analyze.h"

namespace tradeoff {

/// What a calibrated plan must meet; each is a requirement on the worse direction.
struct EpsilonDeltaTarget {
  Interval epsilon;
  Interval delta;
};
struct MuTarget {
  Interval mu;
};
struct AdvantageTarget {
  Interval advantage;
};
struct AttackTarget {
  Interval fpr;
  Interval tpr;
};
using Target = std::variant<EpsilonDeltaTarget, MuTarget, AdvantageTarget, AttackTarget>;

/// The answer to `?`: an interval around the extreme value that still meets the target, and which end of it is certain to meet it.
struct Calibration {
  Interval value;
  bool safe_end_is_hi = true;  ///< true for a noise scale (smallest is wanted), false for a rate, a count or a budget (largest is wanted)
};

/// Finds the extreme value of the one `?` in the plan that meets the target. The safe end has been verified to meet it.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});

}  // namespace tradeoff
