// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/analyze.h"
#include "tradeoff/targets.h"

namespace tradeoff {

/// The answer to `?`: an interval that holds the extreme value that meets the targets, and which end of it is certain to meet them. A noise
/// scale: no smaller value than the lower end meets them. Anything else: no larger value than the upper end does.
struct Calibration {
  Interval value;
  bool safe_end_is_hi = true;  ///< true for a noise scale (smallest is wanted), false for a rate, a count or a budget (largest is wanted)
  bool is_monotone = true;     ///< whether all values on the safe side meet the targets too; false where that is not proved
  std::string printed;         ///< the safe end rounded to its safe side, with few digits: this very decimal was verified
};

/// Finds the extreme value of the one `?` in the plan that meets the target. The safe end has been verified to meet it.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});
/// The same for several targets, which all bind. Throws DomainError if there is none.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Targets& targets, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});

}  // namespace tradeoff
