// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff::detail::numeric {

/// P[K >= least] for K binomial with `trials` <= 2^52 trials of probability `rate` in [0, 1]. [binomial-tail]
[[nodiscard]] Interval binomial_tail(std::uint64_t trials, Interval rate, std::uint64_t least);

/// P[K = k] for every rate in the interval. [binomial-tail]
[[nodiscard]] Interval binomial_mass(std::uint64_t trials, Interval rate, std::uint64_t k);

/// P[K > k] / P[K = k] for odds = rate / (1 - rate) <= 1 and k >= (trials - k - 1) odds, which is near the mean or above it: a short
/// series, or an integral of a Gaussian with bounds of relative width about 1 / trials^2. [binomial-tail-ratio]
[[nodiscard]] Interval binomial_tail_ratio(std::uint64_t trials, Interval odds, std::uint64_t k);

/// Consecutive values of K with their probability.
struct BinomialCell {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  Interval mass;
};

/// Cells that cover all values of K but those of probability at most `outside`.
struct BinomialCells {
  std::vector<BinomialCell> cells;
  double outside = 0;
};

/// About `most` cells, narrower near the mean; single values where there are no more than `most`. [binomial-cells]
[[nodiscard]] BinomialCells binomial_cells(std::uint64_t trials, Interval rate, std::size_t most);

}  // namespace tradeoff::detail::numeric
