// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {

/// delta of one direction at epsilon <= 0 from `other_delta`, that of the opposite direction at -epsilon:
/// 1 - e^epsilon + e^epsilon other_delta. Both terms are non-negative, each operation is rounded outward, and the result is cut to [0, 1]:
/// it encloses the truth and loses a few units in the last place, also where epsilon is near 0. [two-directions]
[[nodiscard]] inline Interval mirrored_delta(Interval epsilon, Interval other_delta) {
  return clamp(-expm1(epsilon) + exp(epsilon) * other_delta, 0, 1);
}
[[nodiscard]] inline Interval mirrored_delta(double epsilon, Interval other_delta) {
  return mirrored_delta(Interval::exactly(epsilon), other_delta);
}
/// The same in plain doubles, for searches: without an error bound.
[[nodiscard]] inline double rough_mirrored_delta(double epsilon, double other_delta) {
  return -std::expm1(epsilon) + std::exp(epsilon) * other_delta;
}

/// delta of a loss whose `log_delta` is computed for epsilon >= 0 and taken from `delta` below. [two-directions]
[[nodiscard]] inline Interval delta_by_logarithm(const Loss& loss, Direction direction, Interval epsilon) {
  if (epsilon.lo != epsilon.hi)
    return {loss.delta(direction, Interval::exactly(epsilon.hi)).lo, loss.delta(direction, Interval::exactly(epsilon.lo)).hi};
  if (epsilon.lo < 0) return mirrored_delta(epsilon, loss.delta(opposite(direction), -epsilon));
  return clamp(exp(loss.log_delta(direction, epsilon)), 0, 1);
}

}  // namespace tradeoff::detail
