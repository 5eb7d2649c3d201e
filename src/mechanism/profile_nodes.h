// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "loss/atoms.h"

namespace tradeoff::detail {

/// An upper bound on delta at one epsilon of at least 0, in one direction.
struct ProfileNode {
  double epsilon = 0;
  double delta = 1;
};

/// The least private pair that meets the nodes of each direction: the profile is linear in e^epsilon between the nodes that matter, and
/// constant beyond the last one. Each list starts at epsilon = 0 and rises. [profile-nodes]
[[nodiscard]] Atoms atoms_of_nodes(const std::vector<ProfileNode>& remove, const std::vector<ProfileNode>& add);
/// The same for a mechanism that meets the nodes in both directions.
[[nodiscard]] Atoms symmetric_atoms_of_nodes(const std::vector<ProfileNode>& nodes);

/// Bounds on a convex profile at x = exp(step * i), i = first, first + 1, ...; constant beyond the last node, linear in x to 1 at x = 0
/// before the first one.
struct ProfileGrid {
  double step = 0;
  std::int64_t first = 0;
  std::vector<double> delta;
};

/// One loss of a pair on a grid, in steps of the grid, and its probability with the record, bounded from above.
struct GridAtom {
  std::int64_t index = 0;
  double mass = 0;
};
struct GridAtoms {
  std::vector<GridAtom> finite;
  double infinite = 0;
};
/// The pair whose profile has the corners of the grid that matter. [profile-nodes]
[[nodiscard]] GridAtoms atoms_of_grid(const ProfileGrid& grid);

}  // namespace tradeoff::detail
