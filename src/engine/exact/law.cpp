// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/law.h"

#include <algorithm>
#include <cmath>

namespace tradeoff::detail::exact {

using numeric::add_up;
using numeric::up_by;

namespace {

/// Sorts a list that consists of sorted runs of the given length.
void merge_runs(std::vector<Point>& points, std::size_t run) {
  const auto greater = [](const Point& x, const Point& y) { return x.loss > y.loss; };
  const auto at = [&](std::size_t i) { return points.begin() + static_cast<std::ptrdiff_t>(std::min(i, points.size())); };
  std::vector<Point> buffer(run < points.size() ? points.size() : 0);
  for (std::size_t length = run; length < points.size(); length *= 2) {
    for (std::size_t start = 0; start < points.size(); start += 2 * length)
      std::merge(at(start), at(start + length), at(start + length), at(start + 2 * length),
                 buffer.begin() + static_cast<std::ptrdiff_t>(start), greater);
    points.swap(buffer);
  }
}

/// A product too large to store before equal losses are merged: multiplies each half of the shorter distribution in turn, then merges both.
Law product_in_halves(const Law& long_law, const Law& short_law) {
  const auto half = static_cast<std::ptrdiff_t>(short_law.points.size() / 2);
  Law part = short_law;
  part.points.resize(static_cast<std::size_t>(half));
  Law sum = product(long_law, part);
  part.points.assign(short_law.points.begin() + half, short_law.points.end());
  const Law rest = product(long_law, part);
  const std::size_t run = sum.points.size();
  sum.points.insert(sum.points.end(), rest.points.begin(), rest.points.end());
  std::inplace_merge(sum.points.begin(), sum.points.begin() + static_cast<std::ptrdiff_t>(run), sum.points.end(),
                     [](const Point& x, const Point& y) { return x.loss > y.loss; });
  sum.shift = std::max(sum.shift, rest.shift);
  sum.spread = std::max(sum.spread, rest.spread);
  sum.lost += rest.lost;
  join_close(sum);
  return sum;
}

Wide smallest_of(const Law& law) {
  Wide smallest = 1;
  for (const Point& point : law.points) smallest = std::min(smallest, point.mass);
  return smallest;
}

/// The multiples of the step nearest to the points, and the distances from them.
struct Cells {
  std::vector<std::int64_t> index;
  double misfit = 0;
  std::size_t most = 1;  // points in one cell
};

Cells cells_of(const Law& law, Wide step) {
  Cells cells;
  cells.index.reserve(law.points.size());
  std::size_t run = 0;
  for (const Point& point : law.points) {
    const Wide multiple = std::round(static_cast<Wide>(point.loss) / step);
    const auto index = static_cast<std::int64_t>(multiple);
    run = !cells.index.empty() && cells.index.back() == index ? run + 1 : 1;
    cells.most = std::max(cells.most, run);
    cells.index.push_back(index);
    cells.misfit = std::max(cells.misfit, static_cast<double>(std::abs(static_cast<Wide>(point.loss) - multiple * step)));
  }
  return cells;
}

}  // namespace

void join_close(Law& law) {
  std::vector<Point>& points = law.points;
  if (points.empty()) return;
  const double tolerance = 2 * law.jitter;
  std::size_t kept = 0;
  std::size_t longest = 1;
  std::size_t run = 1;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[kept].loss - points[i].loss <= tolerance) {
      points[kept].mass += points[i].mass;
      longest = std::max(longest, ++run);
    } else {
      points[++kept] = points[i];
      run = 1;
    }
  }
  points.resize(kept + 1);
  law.lost += static_cast<Wide>(std::erase_if(points, [](const Point& point) { return point.mass < smallest_mass; })) * smallest_mass;
  if (longest == 1) return;
  law.shift = up_by(law.shift + tolerance, 2);
  law.spread = up_by(law.spread + static_cast<double>(longest) * wide_unit * 1.01, 2);
}

std::optional<Lattice> common_lattice(const std::vector<Interval>& values) {
  // Euclid's algorithm with nearest remainders. The result is verified below, so the tolerance is only a heuristic.
  Wide largest = 0;
  Wide step = 0;
  for (const Interval value : values) largest = std::max(largest, std::abs(middle(value)));
  if (!(largest > 0)) return std::nullopt;
  for (const Interval value : values) {
    Wide a = step;
    Wide b = std::abs(middle(value));
    while (b > largest * 1e-11L) {
      const Wide remainder = std::abs(a - b * std::round(a / b));
      a = b;
      b = remainder;
    }
    step = a;
  }
  const Wide most = std::round(largest / step);
  if (!(most <= 1e6L)) return std::nullopt;  // finer lattices are larger than any list
  Lattice lattice{largest / most, {}};
  for (const Interval value : values) {
    const Wide multiple = std::round(middle(value) / lattice.step);
    const Wide misfit = std::abs(middle(value) - multiple * lattice.step);
    if (std::abs(middle(value)) > 0 && multiple == 0) return std::nullopt;
    if (misfit > static_cast<Wide>(radius(value)) + largest * 0x1p-51L) return std::nullopt;
    lattice.multiples.push_back(static_cast<std::int64_t>(multiple));
  }
  return lattice;
}

Law lattice_product(const Law& a, const Law& b, Wide step) {
  const Law& long_law = a.points.size() >= b.points.size() ? a : b;
  const Law& short_law = a.points.size() >= b.points.size() ? b : a;
  const Cells inner = cells_of(long_law, step);
  const Cells outer = cells_of(short_law, step);
  const std::int64_t lowest = inner.index.back();
  std::vector<Wide> dense(static_cast<std::size_t>(inner.index.front() - lowest) + 1, 0);
  for (std::size_t i = 0; i < inner.index.size(); ++i) dense[static_cast<std::size_t>(inner.index[i] - lowest)] += long_law.points[i].mass;
  std::vector<Wide> sum(dense.size() + static_cast<std::size_t>(outer.index.front() - outer.index.back()), 0);
  for (std::size_t j = 0; j < outer.index.size(); ++j) {
    Wide* cell = sum.data() + (outer.index[j] - outer.index.back());
    for (const Wide mass : dense) *cell++ += short_law.points[j].mass * mass;
  }
  Law law;
  for (std::size_t i = sum.size(); i-- > 0;) {
    if (sum[i] < smallest_mass) continue;
    const auto multiple = static_cast<Wide>(static_cast<std::int64_t>(i) + lowest + outer.index.back());
    law.points.push_back({static_cast<double>(multiple * step), sum[i]});
  }
  law.shift = up_by(a.shift + b.shift + inner.misfit + outer.misfit + (largest_loss(a) + largest_loss(b)) * 0x1.1p-53, 8);
  law.jitter = law.shift;
  law.spread = up_by(a.spread + b.spread + static_cast<double>(short_law.points.size() + inner.most + 2) * wide_unit * 1.01, 8);
  // No mass was dropped if the product of the two smallest masses is large enough.
  const bool complete = smallest_of(a) * smallest_of(b) >= smallest_mass;
  law.lost = a.lost + b.lost + (complete ? 0 : 2 * static_cast<Wide>(sum.size()) * smallest_mass);
  law.highest = add_up(a.highest, b.highest);
  law.lowest = numeric::add_down(a.lowest, b.lowest);
  return law;
}

Law product(const Law& a, const Law& b) {
  const Law& long_law = a.points.size() >= b.points.size() ? a : b;
  const Law& short_law = a.points.size() >= b.points.size() ? b : a;
  if (static_cast<double>(a.points.size()) * static_cast<double>(b.points.size()) > most_points && short_law.points.size() > 1)
    return product_in_halves(long_law, short_law);
  std::vector<Point> points;
  points.reserve(long_law.points.size() * short_law.points.size());
  for (const Point& outer : short_law.points)
    for (const Point& inner : long_law.points) points.push_back({outer.loss + inner.loss, outer.mass * inner.mass});
  merge_runs(points, long_law.points.size());
  Law law;
  const double rounding = (largest_loss(a) + largest_loss(b)) * 0x1.1p-53;
  law.jitter = up_by(a.jitter + b.jitter + rounding, 8);
  law.shift = up_by(a.shift + b.shift + rounding, 8);
  law.spread = up_by(a.spread + b.spread + 2 * wide_unit, 8);
  law.lost = a.lost + b.lost;
  law.highest = add_up(a.highest, b.highest);
  law.lowest = numeric::add_down(a.lowest, b.lowest);
  law.points = std::move(points);
  join_close(law);
  return law;
}

}  // namespace tradeoff::detail::exact
