// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "loss/loss.h"

// Finite pairs around a symmetric profile whose evaluation is slow, with losses on a lattice, so that many steps compose fast.
// [lattice-pair]
namespace tradeoff::detail {

/// Enclosures of a symmetric profile at the epsilons 0, step, 2 step, ...; every multiple of the step is exact in double.
struct SampledProfile {
  double step = 0;
  std::span<const Interval> deltas;
};

/// A pair that dominates every pair with this profile: chords between the points, and the last value beyond them. `tail` is what is known
/// beyond the last point.
[[nodiscard]] LossPointer lattice_pair_above(SampledProfile profile, std::string key, Citations origin, const Tail& tail);
/// A pair that every pair with this profile dominates: chords between points that are lowered by what a chord may lie above the profile.
[[nodiscard]] LossPointer lattice_pair_below(SampledProfile profile, std::string key, Citations origin);

}  // namespace tradeoff::detail
