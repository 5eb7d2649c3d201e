// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff {

/// Work that may be spent on the readings of one loss for one question, in the units of loss/work.h: once by what proves the answer,
/// and once by what steers a search for it.
struct ReadingBudget {
  double passed_on;  ///< until then every question is passed on to the loss
  double in_all;     ///< after that nothing is read any more
};

/// Half a second, and three and a half more: for a part of a plan, of which there may be several.
constexpr ReadingBudget budget_of_part{5e5, 4e6};
/// For the loss of a whole plan.
constexpr ReadingBudget budget_of_plan{2.5e6, 6e6};

/// [profile-bracket] The same pair, for code that reads its profile often where one reading may be slow (a composition inside an operator,
/// a group). Readings are passed on until their work, for the question at hand, is `passed_on`. From then on the width that is not worth
/// another reading grows, and convexity answers between the readings there are: a wider interval that still holds. A pair's profile is
/// convex in e^epsilon, and each direction is the mirror of the other; what is no pair, or has a budget already, stays as it is.
[[nodiscard]] LossPointer budgeted(LossPointer base, ReadingBudget budget = budget_of_part);

}  // namespace tradeoff
