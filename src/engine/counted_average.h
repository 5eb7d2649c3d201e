// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/part.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// What may be left out. Every choice is valid.
struct CountedAverageAccuracy {
  double coarse = 1;       ///< so many times what is left out by default
  double most_work = 3e6;  ///< for one question, in the units of loss/work.h: nothing is claimed where the others take longer
  bool quick = false;      ///< few sums, little work, and only quick engines for the others
};

/// Many runs of finite losses beside others: the profile of the others, averaged over the counts that matter of how often each finite loss
/// occurs. Finite losses with too many counts are among the others, and so is one part if all are finite. `compose_others` composes the
/// others, unless they are one run of a formula; it is called when the first question is asked. Null if nothing can be listed, or if there
/// is only one part. [averaged-counts]
[[nodiscard]] LossPointer compose_by_counted_average(const Parts& parts, const std::function<LossPointer(Parts)>& compose_others,
                                                     const CountedAverageAccuracy& accuracy = {});

/// Whether what is averaged is one run of a formula.
[[nodiscard]] bool averages_a_formula(const Parts& parts);

}  // namespace tradeoff::detail
