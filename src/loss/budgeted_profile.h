// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// The work that may be spent on evaluations of one loss for one question, in the units of loss/work.h. It applies twice: once to the proof
/// of the answer, and once to the search for it.
struct ReadingBudget {
  double passed_on;  ///< up to this much work every question is passed on to the loss
  double in_all;     ///< after this much work the loss is not evaluated any more
};

/// Half a second, then three and a half more: for a part of a plan; a plan may have several such parts.
constexpr ReadingBudget budget_of_part{5e5, 4e6};
/// For the loss of a whole plan.
constexpr ReadingBudget budget_of_plan{2.5e6, 6e6};

/// [profile-bracket] The same pair, for code that evaluates the profile often although one evaluation may be slow (a composition inside an
/// operator, a group). Evaluations are passed on until their work, for the current question, reaches `passed_on`. From then on wider
/// answers are accepted, and convexity gives bounds between the values already computed: a wider interval that is still valid. The profile
/// of a pair is convex in e^epsilon, and each direction is the mirror of the other. A loss that is not a pair, or has a budget already, is
/// returned unchanged.
[[nodiscard]] LossPointer budgeted(LossPointer base, ReadingBudget budget = budget_of_part);

}  // namespace tradeoff::detail
