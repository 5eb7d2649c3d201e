// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// The mechanisms of a plan and how often each is run, before they are composed, and the neighbours they all speak of.
struct PlanParts {
  Parts parts;
  Neighbours neighbours;
};

/// What `analyze` composes: for theorems that speak of each mechanism by itself. Throws what `analyze` throws.
[[nodiscard]] PlanParts parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance);

}  // namespace tradeoff
