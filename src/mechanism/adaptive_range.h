// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loss/loss.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// Bounds of the profile of `steps` adaptively chosen steps of bounded range, at the losses n h, n = 0, 1, ..., where h is the range of one
/// step over `cells`. The values above are for the upper end of the range, those below for its lower end. [bounded-range-adaptive]
struct AdaptiveTable {
  std::size_t cells = 0;
  std::vector<double> above;
  std::vector<double> below;
  bool complete = false;  ///< the last node is the largest loss; otherwise the profile beyond it is only at most its last value
};

/// `depth`: nodes up to about so many standard deviations of the loss, as far as there are any.
[[nodiscard]] AdaptiveTable adaptive_table(Interval range, std::uint64_t steps, std::size_t cells, double depth);

/// The exact worst case of so many steps, each with losses in an interval of the length `range`, each chosen after all earlier outcomes are
/// known. Null if a table would take too long: then nothing better than the product of the pairs is known here. `origin`: the theorem by
/// which a step has this range.
[[nodiscard]] LossPointer adaptive_range_loss(Interval range, std::uint64_t steps, const Citations& origin);

}  // namespace tradeoff::detail
