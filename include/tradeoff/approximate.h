// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/guarantee.h"

// A smooth symmetric curve between few guarantees.
namespace tradeoff {

/// A polygon max f_{epsilon_i, delta_i}, steepest piece first, and the area under it on [0, 1].
struct Approximation {
  std::vector<Guarantee> pieces;
  Interval area;
};

/// Polygons with a given number of pieces (and their mirror images) below and above a smooth symmetric trade-off function.
struct Approximations {
  Approximation below;            ///< tangents, largest area [tangent-approximation]
  Approximation below_published;  ///< tangents, largest area of the graph rotated by 45 degrees: a smaller first delta
  Approximation above;            ///< chords, smallest area [chord-approximation]
  std::optional<Interval> area;   ///< the area under the trade-off function itself, if known
};

/// The best approximations by `pieces` >= 1 guarantees. Compositions of `below` bound delta from above; compositions of `above` bound it
/// from below. For up to two pieces, and always for Laplace noise, the numbers enclose those of the optimum (the best one that a scan
/// separates). With more pieces the polygons are proved to lie below or above the curve, but only numerically optimal. Throws
/// UnsupportedError for a curve that is not symmetric and smooth, DomainError for no pieces, TooLargeError for more than 64.
[[nodiscard]] Approximations approximate(const Curve& curve, std::size_t pieces);

/// delta of `times` runs of a smooth symmetric curve, between merged chords and tangents with slopes on a lattice of `pieces` steps.
/// Throws as `approximate` does. [lattice-chords]
[[nodiscard]] Interval composed_between_polygons(const Curve& curve, std::size_t pieces, std::uint64_t times, Interval epsilon);

}  // namespace tradeoff
