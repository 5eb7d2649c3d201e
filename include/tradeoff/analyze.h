// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// The neighbours that a plan speaks of: the stated ones, or else those that its operators fix. Throws DomainError if they disagree.
[[nodiscard]] Neighbours neighbours_of(const Plan& plan, Neighbours stated = Neighbours::unstated);

/// What the plan guarantees. `neighbours` may stay unstated if the plan's operators fix it or if it does not matter.
/// Throws DomainError for parameters out of range and for parts that speak of different neighbours.
[[nodiscard]] Curve analyze(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});

/// The curve of an analysed plan with more lines after it. What has been found out about the curve so far is used again: a further step
/// of a long run costs microseconds, a further line its own cost. Throws DomainError if the new lines fix neighbours that the curve
/// does not speak of. [longer-plan]
[[nodiscard]] Curve extend(const Curve& curve, const Plan& more);

}  // namespace tradeoff
