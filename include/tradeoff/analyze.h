// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// The neighbours of a plan: the stated ones, otherwise those that its operators fix. Throws DomainError if they disagree.
[[nodiscard]] Neighbours neighbours_of(const Plan& plan, Neighbours stated = Neighbours::unstated);

/// What the plan guarantees. `neighbours` may stay unstated if the plan's operators fix it. If nothing fixes it the answers hold for
/// records that are added or removed and for records that are replaced, whichever is worse: two or more steps that are not symmetric then
/// count by their worse order each. To ask about one direction of such a plan, state add-remove.
/// Throws DomainError for parameters out of range and for parts with different neighbours.
[[nodiscard]] Curve analyze(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});

/// The plan with the rows of each file that it names in place of the name, `points=[...]` for `file="..."`: the plan as it is now, also if
/// the files change later. Throws DomainError for a file that cannot be read.
[[nodiscard]] Plan with_tables(Plan plan);

/// The curve of an analysed plan with more lines after it. Earlier results of the curve are reused: a further step
/// of a long run costs microseconds, a further line its own cost. Throws DomainError if the new lines fix other neighbours than
/// those of the curve. [longer-plan]
[[nodiscard]] Curve extend(const Curve& curve, const Plan& more);

}  // namespace tradeoff
