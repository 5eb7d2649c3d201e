// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "curve/refine.h"
#include "engine/part.h"

namespace tradeoff {

/// The mechanisms a limit theorem speaks of: those that are run at all, bounds by their refinement.
[[nodiscard]] inline Parts limit_parts(Parts parts) {
  std::erase_if(parts, [](const Part& part) { return part.times == 0; });
  for (Part& part : parts)
    if (!part.loss->is_pair()) part.loss = refine(std::move(part.loss));
  return parts;
}

/// Whether the loss cites this theorem.
[[nodiscard]] inline bool rests_on(const Loss& loss, std::string_view theorem) {
  std::vector<Step> steps;
  loss.explain(steps);
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return step.theorem == theorem; });
}

/// Whether every value of the profile costs a search, so that an integral over it must do with few.
[[nodiscard]] inline bool is_dear(const Loss& loss) { return rests_on(loss, "group-privacy") || rests_on(loss, "replacement-subsampling"); }

}  // namespace tradeoff
