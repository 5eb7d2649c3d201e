// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/exact/law.h"

// [multi-constraint-composition] Distributions whose losses are steps along a few axes: randomised responses and mixtures of them, and
// others with few atoms. Their powers are sums over counts, and the counts are independent binomials.
namespace tradeoff::detail::exact {

/// Binomial probabilities of 0..count successes at the given odds, computed from the mode outward and normalised, so that no factorial,
/// power or complement is needed. Entries are listed from `first`; those below `smallest_mass` are left out. The log error of an entry is
/// at most count * (8 wide_unit + 2 * the log error of the odds) + 4 wide_unit [atom-kernel].
struct BinomialRow {
  std::uint64_t first = 0;
  std::vector<Wide> mass;
};
[[nodiscard]] BinomialRow binomial_row(std::uint64_t count, Wide odds);

/// A direction in which a loss can step. Two-sided: +loss and -loss with these odds. One-sided: only +loss (which may be negative).
struct Axis {
  Interval loss;
  Interval weight;
  bool two_sided = false;
  Wide odds = 0;          // mass at +loss over mass at -loss
  double odds_error = 0;  // log error of the odds
};

/// A finite distribution as steps. Losses that occur with both signs give two-sided axes, which come first; a loss of 0 is stored
/// separately.
struct Axes {
  std::vector<Axis> two_sided;
  std::vector<Axis> one_sided;
  std::optional<Interval> zero;
};

[[nodiscard]] Axes axes_of(const Atoms& atoms);

/// The number of points (integer vectors that so many steps can reach) and of terms (ways to count the outcomes).
[[nodiscard]] Size axes_size(const Axes& axes, std::uint64_t times);

/// The distribution of `times` draws; `terms` as estimated by `axes_size`.
[[nodiscard]] Law power_by_axes(const Axes& axes, std::uint64_t times, double terms);

}  // namespace tradeoff::detail::exact
