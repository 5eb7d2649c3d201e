// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/exact/counts.h"
#include "engine/part.h"
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

}  // namespace tradeoff::detail
