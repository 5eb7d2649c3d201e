// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "operators/allocation/price.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::allocation {

/// As lognormal_options, by a contour: fast if there are many steps. Enclosures may be as wide as [0, infinity]. [allocation-contour]
[[nodiscard]] std::vector<Interval> contour_options(Interval mu, double steps, Option option, std::span<const double> strikes,
                                                    double wanted, double floor);
/// As expected_excess, by a contour.
[[nodiscard]] Interval contour_excess(Interval mu, double steps, Interval kappa, double wanted);

/// The logarithm of the value of an option, roughly: for searches.
[[nodiscard]] double rough_log_option(double mu, double steps, Option option, double strike);

}  // namespace tradeoff::detail::allocation
