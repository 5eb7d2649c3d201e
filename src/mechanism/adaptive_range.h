// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loss/loss.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// So many uses of mechanisms whose losses lie in an interval of this length.
struct UsesOfRange {
  Interval range;
  std::uint64_t uses = 0;
};

/// A grid of losses n h on which each range is a whole number of cells. The ranges are at most cells * h.hi and at least cells * h.lo.
struct RangeGrid {
  Interval h;
  std::vector<std::size_t> cells;
};

[[nodiscard]] RangeGrid grid_of(const std::vector<UsesOfRange>& all, std::vector<std::size_t> cells);

/// Bounds of the profile of adaptively chosen uses, in an order that may depend on the outcomes, at the losses n h, n = 0, 1, .... The
/// values above are for the nodes of h.hi, those below for the nodes of h.lo. [bounded-range-adaptive]
struct AdaptiveTable {
  Interval h;
  std::vector<double> above;
  std::vector<double> below;
  bool complete = false;  ///< the last node is the largest loss; otherwise the profile beyond it is only at most its last value
};

/// `depth`: nodes up to about so many standard deviations of the loss, as far as there are any. The first range has the most uses.
[[nodiscard]] AdaptiveTable adaptive_table(const std::vector<UsesOfRange>& all, const RangeGrid& grid, double depth);

/// The exact worst case of so many uses, each chosen after all earlier outcomes are known. Null if a table would take too long or be
/// coarser than a Gaussian pair, or if the ranges have no common grid. `origin`: the theorem by which a use has this range.
[[nodiscard]] LossPointer adaptive_range_loss(std::vector<UsesOfRange> all, const Citations& origin);

}  // namespace tradeoff::detail
