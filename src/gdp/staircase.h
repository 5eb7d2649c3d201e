// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gdp/chord.h"

// Methods of measuring the head that use only the monotonicity of the profile: the algorithms of the paper in corrected form, and marching.
// The chord search needs a thousandth of their evaluations; they serve for comparison. [staircase-bound]
namespace tradeoff::detail {

/// The result of a method and its cost. The profile counts its evaluations.
struct Measured {
  Interval mu;
  std::size_t searches = 0;  ///< number of roots of delta_mu(e) = delta that were searched for
};

/// Algorithm 2: a bracket of mu_GDP(epsilon, delta) of at most this width, by bisection. Unlike the printed version it first finds a valid
/// upper end.
[[nodiscard]] Interval bisect_mu(double epsilon, double delta, double width);

/// Algorithms 1 and 3: two staircases over equal steps, fine enough for the wanted width. Algorithm 1 searches for a root only if a step
/// rises above the known maximum, in random order; Algorithm 3 searches at every step. Throws TooLargeError beyond a million steps.
[[nodiscard]] Measured measure_by_staircase(MeasuredProfile& profile, double last, double width, bool skip_known);

/// Marching: the longest steps that monotonicity allows.
[[nodiscard]] Measured measure_by_marching(MeasuredProfile& profile, double last, double width);

}  // namespace tradeoff::detail
