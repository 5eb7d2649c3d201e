// SPDX-License-Identifier: Apache-2.0
#include "mechanism/profile_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// A point of the profile at x = e^z: its value in the direction whose epsilon |z| is.
struct ChainPoint {
  double z = 0;
  double delta = 0;
};

/// The value at e^z seen from the side of z >= 0 (`right`), or from the other one: 1 - x + x delta.
Interval seen_from(const ChainPoint& point, bool right) {
  const bool own = right ? point.z >= 0 : point.z <= 0;
  if (own) return Interval::exactly(point.delta);
  const Interval x = exp(Interval::exactly(-std::abs(point.z)));
  return -expm1(Interval::exactly(-std::abs(point.z))) + x * Interval::exactly(point.delta);
}

/// The mass under the first distribution of the direction of `here`, of the loss there: x times the change of slope.
Interval mass_at(const ChainPoint* inner, const ChainPoint& here, const ChainPoint* outer, bool right) {
  const Interval value = Interval::exactly(here.delta);
  Interval mass = Interval::exactly(0);
  if (inner != nullptr) {
    const Interval gap = Interval::exactly(std::abs(here.z)) + (right ? -inner->z : inner->z);
    mass = (seen_from(*inner, right) - value) / -expm1(-gap);
  } else {
    mass = 1.0 - value;
  }
  if (outer != nullptr) {
    const Interval gap = Interval::exactly(right ? outer->z : -outer->z) - std::abs(here.z);
    mass = mass - (value - Interval::exactly(outer->delta)) / expm1(gap);
  }
  return mass;
}

Interval mass_in_chain(const std::vector<ChainPoint>& chain, std::size_t i) {
  const ChainPoint* const before = i > 0 ? &chain[i - 1] : nullptr;
  const ChainPoint* const after = i + 1 < chain.size() ? &chain[i + 1] : nullptr;
  const bool right = chain[i].z >= 0;
  return right ? mass_at(before, chain[i], after, true) : mass_at(after, chain[i], before, false);
}

/// [profile-nodes] Leaves out every node that lies on or above the line between its neighbours: any subset of the nodes is valid.
std::vector<ChainPoint> hull_of(const std::vector<ChainPoint>& points) {
  std::vector<ChainPoint> chain;
  for (const ChainPoint& point : points) {
    chain.push_back(point);
    while (chain.size() >= 3 && !(mass_in_chain(chain, chain.size() - 2).lo > 0)) chain.erase(chain.end() - 2);
  }
  return chain;
}

std::vector<ChainPoint> chain_of(const std::vector<ProfileNode>& remove, const std::vector<ProfileNode>& add) {
  std::vector<ChainPoint> points;
  for (std::size_t i = add.size(); i-- > 1;) points.push_back({-add[i].epsilon, add[i].delta});
  points.push_back({0, std::min(remove.front().delta, add.front().delta)});
  for (std::size_t i = 1; i < remove.size(); ++i) points.push_back({remove[i].epsilon, remove[i].delta});
  return points;
}

}  // namespace

Atoms atoms_of_nodes(const std::vector<ProfileNode>& remove, const std::vector<ProfileNode>& add) {
  const std::vector<ChainPoint> chain = hull_of(chain_of(remove, add));
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Interval loss = Interval::exactly(chain[i].z);
    const Interval mass = clamp(mass_in_chain(chain, i), 0, 1);
    atoms.push_back({loss, chain[i].z >= 0 ? mass : clamp(exp(loss) * mass, 0, 1)});
  }
  const double beyond = chain.back().z >= 0 ? chain.back().delta : 0, other = chain.front().z <= 0 ? chain.front().delta : 0;
  return make_atoms(std::move(atoms), Interval::exactly(beyond), Interval::exactly(other), false);
}

Atoms symmetric_atoms_of_nodes(const std::vector<ProfileNode>& nodes) {
  std::vector<ChainPoint> kept;
  for (const ChainPoint& point : hull_of(chain_of(nodes, nodes)))
    if (point.z >= 0) kept.push_back(point);
  std::vector<ChainPoint> chain;
  for (std::size_t i = kept.size(); i-- > 0;)
    if (kept[i].z > 0) chain.push_back({-kept[i].z, kept[i].delta});
  chain.insert(chain.end(), kept.begin(), kept.end());
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (chain[i].z < 0) continue;
    const Interval loss = Interval::exactly(chain[i].z);
    const Interval mass = clamp(mass_in_chain(chain, i), 0, 1);
    atoms.push_back({loss, mass});
    if (chain[i].z > 0) atoms.push_back({-loss, clamp(exp(-loss) * mass, 0, 1)});
  }
  const Interval beyond = Interval::exactly(chain.back().delta);
  return make_atoms(std::move(atoms), beyond, beyond, true);
}

namespace {

/// The factors 1/(1 - e^-gap) and 1/(e^gap - 1) for a gap of so many steps.
struct GapFactors {
  Interval inner;
  Interval outer;
};
GapFactors gap_factors(double step, std::int64_t gap) {
  const Interval width = Interval::exactly(step) * Interval::exactly(gap);
  return {1.0 / -expm1(-width), 1.0 / expm1(width)};
}

/// x times the change of slope at `here`; no node before it means the point (0, 1).
Interval grid_mass(const ProfileGrid& grid, const std::int64_t* before, std::int64_t here, const std::int64_t* after) {
  const auto value = [&](std::int64_t i) { return Interval::exactly(grid.delta[static_cast<std::size_t>(i)]); };
  Interval mass = before == nullptr ? 1.0 - value(here) : (value(*before) - value(here)) * gap_factors(grid.step, here - *before).inner;
  if (after != nullptr) mass = mass - (value(here) - value(*after)) * gap_factors(grid.step, *after - here).outer;
  return mass;
}

}  // namespace

GridAtoms atoms_of_grid(const ProfileGrid& grid) {
  const std::int64_t count = static_cast<std::int64_t>(grid.delta.size());
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < count; ++i) {
    kept.push_back(i);
    while (kept.size() >= 2) {
      const std::size_t middle = kept.size() - 2;
      const std::int64_t* const before = middle > 0 ? &kept[middle - 1] : nullptr;
      if (grid_mass(grid, before, kept[middle], &kept[middle + 1]).lo > 0) break;
      kept.erase(kept.end() - 2);
    }
  }
  GridAtoms atoms;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Interval mass = grid_mass(grid, i > 0 ? &kept[i - 1] : nullptr, kept[i], i + 1 < kept.size() ? &kept[i + 1] : nullptr);
    if (mass.hi > 0) atoms.finite.push_back({grid.first + kept[i], mass.hi});
  }
  atoms.infinite = grid.delta.back();
  return atoms;
}

}  // namespace tradeoff::detail
