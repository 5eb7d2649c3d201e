// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/pair.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "numeric/arithmetic.h"
#include "numeric/double_double.h"

namespace tradeoff::detail::lattice {
namespace {

using numeric::DoubleDouble;

/// Upper and lower bounds of the convex function H(gamma) = delta(log gamma), gamma = exp(index * step), with one additional point at
/// either end.
struct Samples {
  double step;
  std::vector<std::int64_t> index;
  std::vector<double> above;
  std::vector<double> below;
  std::vector<double> floor;  // a lower bound: no profile is below 1 - gamma
  Interval infinite;

  /// 1 - exp(-width) and exp(width) - 1 of the cell between two samples.
  [[nodiscard]] double left_width(std::size_t from, std::size_t to) const { return -std::expm1(-width(from, to)); }
  [[nodiscard]] double right_width(std::size_t from, std::size_t to) const { return std::expm1(width(from, to)); }
  [[nodiscard]] double width(std::size_t from, std::size_t to) const { return step * static_cast<double>(index[to] - index[from]); }
};

/// The profile at every lattice point, whose exact value may lie between two doubles.
std::vector<Interval> values_at(const Loss& loss, Direction direction, const std::vector<Interval>& epsilons, BatchProfile::Width width,
                                const AtomsProfile* atoms) {
  std::vector<Interval> values;
  if (atoms != nullptr) {
    loss.cite();
    for (const Interval epsilon : epsilons) values.push_back(atoms->delta(epsilon));
    return values;
  }
  const BatchProfile* batch = loss.capabilities(direction).batch;
  if (batch == nullptr) {
    for (const Interval epsilon : epsilons) values.push_back(loss.delta(direction, epsilon));
    return values;
  }
  std::vector<double> ends;
  for (const Interval epsilon : epsilons) {
    ends.push_back(epsilon.lo);
    if (epsilon.hi != epsilon.lo) ends.push_back(epsilon.hi);
  }
  std::vector<Interval> at_ends(ends.size());
  batch->deltas(direction, ends, width, at_ends);
  std::size_t next = 0;
  for (const Interval epsilon : epsilons) {
    const Interval first = at_ends[next++], last = epsilon.hi != epsilon.lo ? at_ends[next++] : first;
    values.push_back({std::min(last.lo, first.hi), first.hi});
  }
  return values;
}

Samples sample(const Loss& loss, Direction direction, const Points& points, BatchProfile::Width width, const AtomsProfile* atoms) {
  Samples samples{points.step, points.index, {}, {}, {}, clamp(loss.infinite_mass(direction), 0, 1)};
  std::vector<std::int64_t>& index = samples.index;
  index.insert(index.begin(), 2 * index[0] - index[1]);
  index.push_back(2 * index[index.size() - 1] - index[index.size() - 2]);
  const std::size_t count = index.size();
  for (auto* values : {&samples.above, &samples.below, &samples.floor}) values->resize(count);
  std::vector<Interval> epsilons;
  for (const std::int64_t i : index) epsilons.push_back(Interval::exactly(static_cast<double>(i)) * Interval::exactly(points.step));
  const std::vector<Interval> values = values_at(loss, direction, epsilons, width, atoms);
  for (std::size_t i = 0; i < count; ++i) {
    const Interval epsilon = epsilons[i], value = values[i];
    samples.above[i] = value.hi <= 1 ? value.hi : 1;  // also if the value is NaN
    samples.below[i] = value.lo >= 0 ? std::min(value.lo, 1.0) : 0;
    samples.floor[i] = epsilon.lo < 0 ? (-expm1(epsilon)).lo : 0;
  }
  // H decreases and stays above 1 - gamma and above its limit, so enclosures may be tightened accordingly.
  for (std::size_t i = 1; i < count; ++i) samples.above[i] = std::min(samples.above[i], samples.above[i - 1]);
  for (std::size_t i = count; i-- > 0;) {
    const double right = i + 1 < count ? samples.below[i + 1] : samples.infinite.lo;
    samples.below[i] = std::max({samples.below[i], samples.floor[i], right});
  }
  return samples;
}

/// Values at the samples 1..last: the corners of a polygon.
using Polygon = std::vector<double>;  // element 0 is not used

/// The lower convex hull in gamma of (0, 1) and of the polygon: the samples on the hull, from right to left. Slopes are relative to gamma
/// at the middle point, so nothing overflows; they are accurate to a few units in the last place, and the users of the hull check the
/// result.
std::vector<std::size_t> convex_hull(const Samples& samples, const Polygon& value) {
  std::vector<std::size_t> hull;
  const auto is_reflex = [&](double left_value, double left_width) {
    const std::size_t middle = hull.back(), right = hull[hull.size() - 2];
    return (left_value - value[middle]) / left_width < (value[middle] - value[right]) / samples.right_width(middle, right);
  };
  for (std::size_t i = value.size(); i-- > 1;) {
    while (hull.size() >= 2 && is_reflex(value[i], samples.left_width(i, hull.back()))) hull.pop_back();
    hull.push_back(i);
  }
  while (hull.size() >= 2 && is_reflex(1, 1)) hull.pop_back();
  return hull;
}

/// The distribution whose hockey-stick divergence is the hull of the polygon: masses are changes of slope. They are chosen from right to
/// left so that the divergence of the doubles chosen so far, computed in 100 bits, reaches the next vertex; `too_low` and `too_high` are
/// the factors by which it is below the polygon at a vertex of the hull, and above it anywhere.
struct Built {
  Law law;
  double too_low = 1;
  double too_high = 1;
};

Built build(const Samples& samples, const Polygon& value) {
  const std::vector<std::size_t> hull = convex_hull(samples, value);
  Built built;
  built.law.infinite = value.back();
  DoubleDouble height{built.law.infinite, 0};  // the hockey-stick divergence at the sample
  DoubleDouble slope{0, 0};                    // gamma there times the steepness to the right of it
  DoubleDouble total{0, 0};
  std::int64_t width = 0;
  DoubleDouble share{0, 0};  // 1 - exp(-width), of the exact width
  std::size_t next = 0;
  for (std::size_t i = value.size(); i-- > 1;) {
    const bool is_vertex = next < hull.size() && hull[next] == i;
    if (is_vertex && height.value() < value[i]) built.too_low = std::max(built.too_low, value[i] / height.value());
    if (height.value() > value[i]) built.too_high = std::max(built.too_high, height.value() / value[i]);
    if (is_vertex) {
      const bool leftmost = ++next == hull.size();
      const double target = leftmost ? 1 : value[hull[next]];
      const double run = leftmost ? 1 : samples.left_width(hull[next], i);
      const double mass = std::max(0.0, ((target - height.high) - height.low) / run - slope.value());
      if (mass > 0) {
        built.law.index.push_back(samples.index[i]);
        built.law.mass.push_back(mass);
        slope = slope + mass;
        total = total + mass;
      }
    }
    if (const std::int64_t here = samples.index[i] - samples.index[i - 1]; here != width) {
      width = here;
      share = numeric::complement_of_exp(numeric::two_product(samples.step, static_cast<double>(width)));
    }
    height = height + slope * share;
    slope = slope - slope * share;
  }
  std::reverse(built.law.index.begin(), built.law.index.end());
  std::reverse(built.law.mass.begin(), built.law.mass.end());
  const double sum = total.value();
  built.law.finite_total = {numeric::down_by(sum, 2), numeric::up_by(sum, 2)};
  return built;
}

/// Multiplies every mass by `factor`, rounded so that none is smaller (sign = 1) or larger (sign = -1) than in exact arithmetic.
void scale(Law& law, double factor, double sign) {
  const double directed = factor * (1 + sign * 0x1p-49);  // 16 u: this product, the quotients in `factor`, the rounding of each mass
  for (double& mass : law.mass) mass *= directed;
  law.infinite *= directed;
  const Interval total = law.finite_total * Interval::exactly(directed);
  law.finite_total = {numeric::down_by(total.lo, 2), numeric::up_by(total.hi, 2)};
}

/// [dominating-pair] Chords between values that are certainly above H lie above H.
Law dominating(const Samples& samples) {
  Built built = build(samples, Polygon(samples.above.begin(), samples.above.end() - 1));
  const double at_zero = 1 / (built.law.finite_total.lo + built.law.infinite);  // the polygon starts at (0, 1)
  const double factor = std::max({1.0, built.too_low, at_zero});
  if (!(factor < 2)) return {{}, {}, 1, Interval::exactly(0)};  // only delta <= 1 is certain
  scale(built.law, factor, 1);
  return built.law;
}

/// Cell i lies between the samples i and i + 1. The chords of the two neighbouring cells, extended into it, are below H there; the chord of
/// the cell exceeds the extension from the left by `left` at its right end and the one from the right by `right` at its left end.
struct Excess {
  double left = 0;
  double right = 0;
};

Excess excess(const Samples& samples, std::size_t i) {
  const auto& above = samples.above;
  const auto& below = samples.below;
  const double fall = below[i] - below[i + 1];
  const double left_fall = (above[i - 1] - below[i]) * (samples.right_width(i, i + 1) / samples.left_width(i - 1, i));
  const double right_fall = (below[i + 1] - above[i + 2]) * (samples.left_width(i, i + 1) / samples.right_width(i + 1, i + 2));
  // 32 u; expm1, quotients and products need 26.
  const double slack = 0x1p-48 * (std::abs(fall) + std::abs(left_fall) + std::abs(right_fall));
  return {left_fall - fall + slack, fall - right_fall + slack};
}

/// How much the ends of the chord of a cell must be lowered so that it is certainly below H: both by the largest gap between chord and
/// extensions; or, at the first or last point of the distribution, where convexity would carry that gap far beyond the cell, one end down
/// to the extension of the straight segment next to it.
struct Lowering {
  double left = 0;
  double right = 0;
};

Lowering lowering(const Excess& before, const Excess& here, const Excess& after) {
  if (!(here.left > 0 && here.right > 0)) return {};
  const double gap = here.left * (here.right / (here.left + here.right)) * (1 + 0x1p-49);
  constexpr double worthwhile = 16;  // a gap this much smaller than the excess of the extension costs less, even if it is carried far
  if (gap > after.right && here.right < worthwhile * gap) return {here.right, 0};
  if (gap > before.left && here.left < worthwhile * gap) return {0, here.left};
  return {gap, gap};
}

/// [dominated-pair] The chords, lowered at every point as the neighbouring cells require, are below H; so is their hull.
Law dominated(const Samples& samples) {
  const double limit = samples.infinite.lo;
  const std::size_t count = samples.index.size();
  Polygon value{0};
  double demanded = 0;  // required by the cell on the left
  Excess before, here = excess(samples, 1);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const Excess after = i + 3 < count ? excess(samples, i + 1) : Excess{};
    const Lowering needed = i + 2 < count ? lowering(before, here, after) : Lowering{};
    const double least = samples.below[i] * (1 - 0x1p-52);
    double lowered = least - std::max(needed.left, demanded);
    if (i == 1) lowered = std::min(lowered, samples.floor[i]);  // left of the first point H is above 1 - gamma
    if (!(lowered > limit)) {
      // The polygon ends in the limit: at this point if the cell on the left allows it, because on the right the limit itself is below H;
      // otherwise one point earlier.
      if (least - demanded >= limit) value.push_back(limit);
      break;
    }
    value.push_back(lowered);
    demanded = needed.right;
    before = here;
    here = after;
  }
  const auto nothing = [&] { return Law{{}, {}, limit, Interval::exactly(0)}; };
  if (value.size() < 3) return nothing();
  value.back() = limit;
  Built built = build(samples, value);
  const double factor = std::max({1.0, built.too_high, built.law.finite_total.hi + built.law.infinite});
  if (!(factor < 2)) return nothing();
  scale(built.law, 1 / factor, -1);
  return built.law;
}

}  // namespace

Pair discretise(const Loss& loss, Direction direction, const Points& points, BatchProfile::Width width, const AtomsProfile* atoms) {
  const Samples samples = sample(loss, direction, points, width, atoms);
  return {dominating(samples), dominated(samples)};
}

}  // namespace tradeoff::detail::lattice
