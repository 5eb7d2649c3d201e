// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tradeoff/interval.h"

// Options on sums of independent summands: the hockey-stick divergences of random allocation. [allocation-price]
namespace tradeoff::detail::allocation {

enum class Option { call, put };

/// Encloses E (S - k)+ / T (calls) or E (k - S)+ / T (puts) at every strike k, where S is a sum of T independent lognormal variables of
/// mean 1 and log-variance mu^2. The strikes increase, are positive and share transforms, so they should lie close together. `wanted` is
/// the width to aim at, relative to the value, or to `floor` for smaller values; where it is not reached within the budget, an enclosure is
/// wider.
[[nodiscard]] std::vector<Interval> lognormal_options(Interval mu, double steps, Option option, std::span<const double> strikes,
                                                      double wanted, double floor = 0);

/// The same by a contour alone; an enclosure may be [0, infinity].
[[nodiscard]] std::vector<Interval> options_on_a_line(Interval mu, double steps, Option option, std::span<const double> strikes,
                                                      double wanted, double floor = 0);

/// Encloses E (X_1 + ... + X_T)+ / T for independent copies of X = exp(mu z - mu^2/2) - kappa exp(-mu z - mu^2/2), z standard normal.
[[nodiscard]] Interval expected_excess(Interval mu, double steps, Interval kappa, double wanted);

}  // namespace tradeoff::detail::allocation
