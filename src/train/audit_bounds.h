// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tradeoff/interval.h"

// Ranges that counts and sums of squares leave only with a small probability. [step-audit]
namespace tradeoff::detail::train {

/// The largest p, rounded down, with P(Binomial(trials, p) >= right) <= chance, by Chernoff's bound; 0 if there is none.
[[nodiscard]] double success_rate_below(std::uint64_t right, std::uint64_t trials, double chance);

struct Range {
  double least = 0;
  double most = 0;
};

/// A count of `trials` events, each of conditional probability within `probability` given the earlier ones, lies in this range except with
/// probability `chance` on each side, by Chernoff's bound.
[[nodiscard]] Range count_range(std::uint64_t trials, Interval probability, double chance);

/// The root of a sum of `freedom` squares of independent standard normal variables lies in this range except with probability `chance` on
/// each side: the bounds of Laurent and Massart.
[[nodiscard]] Range norm_range(double freedom, double chance);

/// P(|k c + Z| <= reach) with Z standard normal and c in `size`. Here k is the deviation from its mean m/2 of the number of marked ones
/// among m drawn without replacement from 2m, of which m are marked; or of m fair coins if `independent`. m is even and at most 256.
[[nodiscard]] Interval spread_chance(std::uint64_t m, bool independent, Interval size, Interval reach);

}  // namespace tradeoff::detail::train
