// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/analyze.h"
#include "tradeoff/targets.h"

namespace tradeoff {

/// The answer to `?`: an interval around the extreme value that still meets the targets, and which end of it is certain to meet them.
struct Calibration {
  Interval value;
  bool safe_end_is_hi = true;  ///< true for a noise scale (smallest is wanted), false for a rate, a count or a budget (largest is wanted)
  std::string printed;         ///< the safe end rounded to its safe side, with few digits: this very decimal was verified
};

/// Finds the extreme value of the one `?` in the plan that meets the target. The safe end has been verified to meet it.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});
/// The same for several targets, which all bind. Throws DomainError if there is none.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Targets& targets, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});

}  // namespace tradeoff
