// SPDX-License-Identifier: Apache-2.0
// The figures of Cadir, Najib and Shkel on composition under several constraints. Parameters that the paper does not state are our own
// choice.
#include <array>

#include "figures/figures.h"
#include "figures/parts.h"
#include "tradeoff/approximate.h"

namespace tradeoff::detail::report {
namespace {

constexpr std::size_t fine = 401;  // polygons: enough points for accurate corners

Series polygon(std::string label, const std::string& plan) {
  return tradeoff_series(std::move(label), curve_of(plan), Direction::worst, fine);
}

std::vector<Picture> mixture() {
  Picture picture = tradeoff_axes("Half of one, half of the other");
  const std::string steep = "dp(epsilon=2)", flat = "dp(epsilon=0.4, delta=0.25)";
  const Series mixed = polygon("(2, 0)-DP or (0.4, 0.25)-DP, by a fair coin", "mixture([(0.5, " + steep + "), (0.5, " + flat + ")])");
  picture.series = {region_of("its region", mixed, 2), styled(polygon("(2, 0)-DP", steep), 0, Stroke::dashed),
                    styled(polygon("(0.4, 0.25)-DP", flat), 1, Stroke::dashed), styled(mixed, 2), guessing_line()};
  return {picture};
}

/// A pair of constraints on every mechanism, composed exactly and by the older bounds.
Picture double_dp(int runs) {
  const std::string repeated = " | repeat(" + std::to_string(runs) + ")";
  const std::string strong = "(0.4, 0)", weak = "(0.15, 0.05)";
  const std::string both = "constraints([" + strong + ", " + weak + "])";
  // Both constraints together bound the total variation; with the first constraint, that also bounds the composition.
  const double variation = curve_of(both).advantage().hi;
  const Series first = polygon("(0.4, 0)-DP alone", "constraints([" + strong + "])" + repeated);
  const Series second = polygon("(0.15, 0.05)-DP alone", "constraints([" + weak + "])" + repeated);
  const Series exact = polygon("both, exactly", both + repeated);
  Picture picture = tradeoff_axes(std::to_string(runs) + " runs");
  picture.series = {
      region_of("region of both", exact, 2),
      styled(first, 4, Stroke::dashed),
      styled(second, 3, Stroke::dashed),
      styled(larger_of("intersection of the two", first, second), 0),
      styled(polygon("(0.4, 0)-DP and total variation", "constraints([" + strong + ", (0, " + digits_of(variation) + ")])" + repeated), 1),
      styled(exact, 2),
      guessing_line()};
  return picture;
}

std::vector<Picture> double_dp_composition() { return {double_dp(5), double_dp(20)}; }

/// The constraints as a plan: each pair is rounded so that the polygon stays on its side of the curve.
std::string plan_of(const Approximation& approximation, bool below) {
  std::string pairs;
  for (const Guarantee& one : approximation.pieces) {
    const double epsilon = below ? one.epsilon.hi : one.epsilon.lo, delta = below ? one.delta.hi : one.delta.lo;
    pairs += (pairs.empty() ? "(" : ", (") + digits_of(epsilon) + ", " + digits_of(delta) + ")";
  }
  return "constraints([" + pairs + "])";
}

std::vector<Picture> gaussian_bounds() {
  const std::string gaussian = "gdp(mu=0.3)";
  const Approximations two = approximate(curve_of(gaussian), 2);
  std::vector<Picture> panels;
  for (const int runs : {1, 10, 30}) {
    const std::string repeated = " | repeat(" + std::to_string(runs) + ")";
    const Series above = polygon("two chords above", plan_of(two.above, false) + repeated);
    const Series below = polygon("two tangents below", plan_of(two.below_published, true) + repeated);
    Series between{"certain to hold the curve", {}, Shape::area, Stroke::solid, 4};
    for (std::size_t i = 0; i < above.spots.size(); ++i)
      between.spots.push_back({above.spots[i].x, {below.spots[i].y.lo, above.spots[i].y.hi}});
    Picture picture = tradeoff_axes(runs == 1 ? "0.3-GDP, one run" : "0.3-GDP, " + std::to_string(runs) + " runs");
    picture.series = {between, styled(above, 0), styled(below, 1),
                      styled(tradeoff_series("exactly", curve_of(gaussian + repeated)), 6, Stroke::dashed), guessing_line()};
    panels.push_back(picture);
  }
  return panels;
}

constexpr std::array<Recipe, 3> constraints_figures = {{
    {"constraints-mixture", "A mixture of two privacy regions", "after figure 1 of Cadir, Najib and Shkel",
     "A fair coin, seen by the attacker, decides between a (2, 0)-DP and a (0.4, 0.25)-DP mechanism. The region of the mixture is the "
     "average of "
     "both regions, point by point: neither their union nor their intersection.",
     mixture},
    {"constraints-double", "Composition under two constraints at once", "after figure 2 of Cadir, Najib and Shkel",
     "Every run is known to be both (0.4, 0)-DP and (0.15, 0.05)-DP. Composing each constraint alone and intersecting the results, or "
     "using the "
     "total variation that both imply, loses privacy that is there: the exact curve lies above them.",
     double_dp_composition},
    {"constraints-gaussian", "Gaussian DP between two-constraint bounds", "after figure 3 of Cadir, Najib and Shkel",
     "The curve of 0.3-GDP between the best two tangents and the best two chords, and what becomes of the bounds when they are composed. "
     "The truth "
     "is certain to lie between; two pieces are little, and `tradeoff approximate` uses as many as asked for.",
     gaussian_bounds},
}};

}  // namespace

std::span<const Recipe> constraints_recipes() { return constraints_figures; }

}  // namespace tradeoff::detail::report
