// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "loss/atoms.h"

// Pairs that are dominated by a mechanism because their tests are tests of it. [sparse-vector-witness]
namespace tradeoff::detail {

using TestPoint = std::pair<double, double>;  // false-positive rate, power

/// The concave polygon from (0, 0) to (1, 1) over the points: any subset of the tests is valid.
[[nodiscard]] std::vector<TestPoint> polygon_over(std::vector<TestPoint> points);

/// The pair whose tests are those of the polygon.
[[nodiscard]] Atoms atoms_of_polygon(const std::vector<TestPoint>& polygon);
/// The tests that are as good in either order: the smaller of the polygon and its mirror image.
[[nodiscard]] Atoms symmetric_atoms_of_polygon(const std::vector<TestPoint>& polygon);
/// A public coin decides which of the neighbours takes which side.
[[nodiscard]] Atoms either_order(const Atoms& atoms);

}  // namespace tradeoff::detail
