// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// The mechanisms of a plan and the number of runs of each, before they are composed, and the neighbouring relation of all of them.
struct PlanParts {
  Parts parts;
  Neighbours neighbours;
};

/// The parts that `analyze` composes, for theorems about each mechanism. Throws what `analyze` throws.
[[nodiscard]] PlanParts parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance);

}  // namespace tradeoff::detail
