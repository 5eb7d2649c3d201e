// SPDX-License-Identifier: Apache-2.0
#include "mechanism/lattice_pair.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "loss/mirrored_delta.h"
#include "mechanism/constraints.h"
#include "mechanism/finite.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

Interval epsilon_of_node(double step, std::size_t i) { return Interval::exactly(static_cast<double>(i) * step); }

/// The canonical pair of one guarantee at each point. [canonical-constraints]
LossPointer pair_through(double step, const std::vector<double>& deltas, std::string key, Citations origin, std::optional<Tail> tail) {
  std::vector<Guarantee> points;
  for (std::size_t i = 0; i < deltas.size(); ++i) points.push_back({epsilon_of_node(step, i), Interval::exactly(deltas[i])});
  return finite_loss(atoms_of(canonical_constraints(std::move(points))), std::move(key), std::move(origin), tail,
                     LossLattice{Interval::exactly(step), false});
}

/// The slope in x = e^e of the chord between two points, as an enclosure for every profile within the enclosures.
Interval slope_between(Interval from, Interval left, Interval to, Interval right) { return (right - left) / (exp(to) - exp(from)); }

}  // namespace

// [lattice-pair]
LossPointer lattice_pair_above(SampledProfile profile, std::string key, Citations origin, const Tail& tail) {
  std::vector<double> above;
  for (const Interval& delta : profile.deltas) above.push_back(std::min(delta.hi, above.empty() ? 1.0 : above.back()));
  return pair_through(profile.step, above, std::move(key), std::move(origin), tail);
}

// [lattice-pair] On each cell the profile lies above the chords of the cells beside it, continued: the chord of the cell exceeds the larger
// of these two lines by at most width * left * right / (left + right), where left and right are the changes of slope.
LossPointer lattice_pair_below(SampledProfile profile, std::string key, Citations origin) {
  const std::span<const Interval> deltas = profile.deltas;
  const std::size_t cells = deltas.size() - 1;
  std::vector<Interval> slopes;  // slopes[0] belongs to the mirrored cell below epsilon 0
  const Interval first = epsilon_of_node(profile.step, 1);
  slopes.push_back(slope_between(-first, mirrored_delta(-first, deltas[1]), Interval::exactly(0), deltas[0]));
  for (std::size_t i = 0; i < cells; ++i)
    slopes.push_back(slope_between(epsilon_of_node(profile.step, i), deltas[i], epsilon_of_node(profile.step, i + 1), deltas[i + 1]));
  slopes.push_back(Interval::exactly(0));  // beyond the last point the profile falls
  std::vector<double> gaps;
  for (std::size_t i = 0; i < cells; ++i) {
    const Interval width = exp(epsilon_of_node(profile.step, i + 1)) - exp(epsilon_of_node(profile.step, i));
    const Interval left{0, std::max(0.0, (slopes[i + 1] - slopes[i]).hi)}, right{0, std::max(0.0, (slopes[i + 2] - slopes[i + 1]).hi)};
    // increasing in both changes
    const Interval a = Interval::exactly(left.hi), b = Interval::exactly(right.hi);
    gaps.push_back(a.hi == 0 || b.hi == 0 ? 0 : (width * a * b / (a + b)).hi);
  }
  std::vector<double> below;
  for (std::size_t i = 0; i <= cells; ++i) {
    const double gap = std::max(i > 0 ? gaps[i - 1] : 0, i < cells ? gaps[i] : 0);
    below.push_back(i == cells ? 0 : std::clamp(numeric::add_down(deltas[i].lo, -gap), 0.0, 1.0));
  }
  for (std::size_t i = 1; i < below.size(); ++i) below[i] = std::min(below[i], below[i - 1]);
  return pair_through(profile.step, below, std::move(key), std::move(origin), std::nullopt);
}

}  // namespace tradeoff::detail
