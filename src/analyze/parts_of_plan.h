// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/part.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// The mechanisms of a plan and the number of runs of each, before they are composed, and the neighbouring relation of all of them.
struct PlanParts {
  Parts parts;  ///< of mechanisms that are known only to lie between two pairs, the pair above
  Neighbours neighbours;
  std::vector<Parts> below = {};  ///< the same with each of the pairs below, if there are such mechanisms. [bracketed-pair]
};

/// The parts that `analyze` composes, for theorems about each mechanism. Throws what `analyze` throws.
[[nodiscard]] PlanParts parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance);

/// The same for theorems about moments, which need the pair itself: a plan of which some pair is not known throws UnsupportedError.
[[nodiscard]] Parts parts_of_known_pairs(const Plan& plan, Neighbours neighbours, Tolerance tolerance);

}  // namespace tradeoff::detail
