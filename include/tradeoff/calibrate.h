// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/analyze.h"
#include "tradeoff/targets.h"

namespace tradeoff {

/// The answer to `?`: an interval that contains the smallest noise scale (or the largest rate, count or budget) that meets the targets, and
/// which end of it is proved to meet them. For a noise scale, no value below the lower end meets them; for the others, no value above the
/// upper end does.
struct Calibration {
  Interval value;
  bool safe_end_is_hi = true;  ///< true for a noise scale (smallest is wanted), false for a rate, a count or a budget (largest is wanted)
  bool is_monotone = true;     ///< true if it is proved that every value on the safe side of the safe end meets the targets too
  std::string printed;         ///< the safe end, rounded to the safe side to few digits; this decimal itself was verified
};

/// Finds the smallest (or largest) value of the one `?` in the plan that meets the target. The safe end is verified to meet it.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});
/// The same for several targets; the plan must meet all of them. Throws DomainError if the list is empty.
[[nodiscard]] Calibration calibrate(const Plan& plan, const Targets& targets, Neighbours neighbours = Neighbours::unstated,
                                    Tolerance tolerance = {});

}  // namespace tradeoff
