// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// The neighbouring relation of a plan: the stated one, otherwise the one that its operators need. Throws DomainError if they disagree.
[[nodiscard]] Neighbours neighbours_of(const Plan& plan, Neighbours stated = Neighbours::unstated);

/// Analyses the plan. `neighbours` may stay unstated. If neither the caller nor an operator fixes them, the answers hold for records that
/// are added, removed or replaced. In that case, if two or more steps are not symmetric, each of them enters by the worse of its two
/// directions. To ask about one direction of such a plan, state add-remove neighbours.
/// Throws DomainError for parameters out of range and for parts with different neighbours.
[[nodiscard]] Curve analyze(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});

/// Returns the plan with the rows of every file it names written out: `points=[...]` in place of `file="..."`. Later changes of the files
/// do not affect it. Throws DomainError for a file that cannot be read.
[[nodiscard]] Plan with_tables(Plan plan);

/// The curve of the analysed plan followed by more lines. It reuses the results of the first curve: one more step of a long run costs
/// microseconds; any other line costs as much as its own analysis. Throws DomainError if the new lines need other neighbours than the curve
/// has. [longer-plan]
[[nodiscard]] Curve extend(const Curve& curve, const Plan& more);

}  // namespace tradeoff
