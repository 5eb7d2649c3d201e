// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gdp/chord.h"

// Ways to measure the head that use only that the profile falls: the printed algorithms in corrected form, and marching. The chord search
// needs a thousandth of their evaluations; they are here to be compared with. [staircase-bound]
namespace tradeoff {

/// The result of a method and its cost. Profile evaluations are counted by the profile.
struct Measured {
  Interval mu;
  std::size_t searches = 0;  ///< roots of delta_mu(e) = delta
};

/// Algorithm 2: a bracket of mu_GDP(epsilon, delta) of at most this width by bisection. Unlike the printed one it first looks for an upper
/// end that is one.
[[nodiscard]] Interval bisect_mu(double epsilon, double delta, double width);

/// Algorithms 1 and 3: two staircases over equal steps, fine enough for the wanted width. Algorithm 1 searches for a root only where a step
/// rises above what is known already, in random order; Algorithm 3 searches at every step. Throws TooLargeError beyond a million steps.
[[nodiscard]] Measured measure_by_staircase(MeasuredProfile& profile, double last, double width, bool skip_known);

/// The longest steps that monotonicity allows.
[[nodiscard]] Measured measure_by_marching(MeasuredProfile& profile, double last, double width);

}  // namespace tradeoff
