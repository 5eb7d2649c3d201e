// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loss/loss.h"
#include "mechanism/adaptive_range.h"

namespace tradeoff::detail {

/// A Gaussian pair that dominates so many adaptively chosen uses, in every order. Its mu^2 exceeds the sum of the squares of half the
/// ranges by the square of the largest half times 3 and a logarithm of the number. Null if a range is too large. [choices-gaussian]
[[nodiscard]] LossPointer choices_gaussian(const std::vector<UsesOfRange>& all, const Citations& origin);

/// The sum of the squares of all ranges over that of the largest: about the number of uses that count.
[[nodiscard]] double uses_that_count(const std::vector<UsesOfRange>& all);
/// About the relative excess of mu^2.
[[nodiscard]] double excess_of_choices_gaussian(const std::vector<UsesOfRange>& all);

}  // namespace tradeoff::detail
