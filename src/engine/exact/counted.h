// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/exact/counts.h"
#include "engine/part.h"
#include "loss/atoms.h"
#include "loss/loss.h"

namespace tradeoff::detail {

// [count-sums]
/// Many runs of few losses with few values each: the counts of the values that matter for one epsilon are summed, all but one of them one
/// by one [count-sums]. Null if some part has no finite distribution, or if there would be too many counts.
struct CountedComposition {
  LossPointer loss;
  bool quick = false;  ///< an answer takes a few milliseconds at most
};
[[nodiscard]] CountedComposition compose_by_counts(const Parts& parts, const exact::CountAccuracy& accuracy = {});

/// One direction of all parts.
struct CountedSide {
  exact::CountedParts parts;
  double largest = 0;  ///< no loss is above this
  double shift = 0;    ///< of every loss: the radii of all runs, and the rounding of sums
  Interval infinite = Interval::exactly(0);
  double slack = 0;       ///< delta may be smaller by this factor, in the logarithm
  double most_order = 1;  ///< no tilt is larger
};
/// Runs of a finite law.
struct FiniteRuns {
  const Atoms* atoms;
  std::uint64_t times;
};
/// Empty if there are none, a law is empty or has a mass that may be 0, or no loss varies.
[[nodiscard]] std::optional<CountedSide> counted_side(const std::vector<FiniteRuns>& all);

}  // namespace tradeoff::detail
