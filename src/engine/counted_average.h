// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/part.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// What may be left out. Every choice is valid.
struct CountedAverageAccuracy {
  double coarse = 1;       ///< so many times what is left out by default
  double most_work = 1e6;  ///< for one average, in the units of loss/work.h: nothing is claimed where the others take longer
};

/// Many runs of finite losses beside others: the profile of the others, averaged over the counts that matter of how often each finite loss
/// occurs. `compose_others` composes the others, unless they are one run of a formula; it is called when the first question is asked. Null
/// if there are no finite parts or no others, or if there would be too many counts. [averaged-counts]
[[nodiscard]] LossPointer compose_by_counted_average(const Parts& parts, const std::function<LossPointer(Parts)>& compose_others,
                                                     const CountedAverageAccuracy& accuracy = {});

}  // namespace tradeoff::detail
