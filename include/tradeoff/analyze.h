// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// What the plan guarantees. `neighbours` may stay unstated if the plan's operators fix it or if it does not matter.
/// Throws DomainError for parameters out of range and for parts that speak of different neighbours.
[[nodiscard]] Curve analyze(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});

}  // namespace tradeoff
