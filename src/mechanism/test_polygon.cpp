// SPDX-License-Identifier: Apache-2.0
#include "mechanism/test_polygon.h"

#include <algorithm>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {

std::vector<TestPoint> polygon_over(std::vector<TestPoint> points) {
  points.insert(points.end(), {{0, 0}, {1, 1}});
  std::sort(points.begin(), points.end());
  std::vector<TestPoint> chain;
  for (const TestPoint& point : points) {
    if (!chain.empty() && !(point.second > chain.back().second)) continue;
    if (!chain.empty() && point.first == chain.back().first) chain.pop_back();
    const auto bends = [&] {  // the middle point lies certainly above the line between its neighbours
      const TestPoint &a = chain[chain.size() - 2], &b = chain.back();
      const auto difference = [](double x, double y) { return Interval::exactly(x) - y; };
      return (difference(b.second, a.second) * difference(point.first, b.first) -
              difference(point.second, b.second) * difference(b.first, a.first))
                 .lo > 0;
    };
    while (chain.size() >= 2 && !bends()) chain.pop_back();
    chain.push_back(point);
  }
  return chain;
}

namespace {

/// The height of the polygon, from below.
double height_at(const std::vector<TestPoint>& polygon, double x) {
  for (std::size_t i = 1; i < polygon.size(); ++i) {
    const auto [a, low] = polygon[i - 1];
    const auto [b, high] = polygon[i];
    if (x > b) continue;
    const Interval share = (Interval::exactly(x) - a) / (Interval::exactly(b) - a);
    return std::max(0.0, (low + (Interval::exactly(high) - low) * clamp(share, 0, 1)).lo);
  }
  return 1;
}

/// One minus a number, as it is or rounded down.
double rest_up(double x) { return numeric::add_up(1, -x); }
double rest_down(double x) { return numeric::add_down(1, -x); }

}  // namespace

Atoms atoms_of_polygon(const std::vector<TestPoint>& polygon) {
  std::vector<Atom> atoms;
  for (std::size_t i = 1; i < polygon.size(); ++i) {
    const Interval q = Interval::exactly(polygon[i].first) - polygon[i - 1].first;
    const Interval p = Interval::exactly(polygon[i].second) - polygon[i - 1].second;
    atoms.push_back({log(p / q), clamp(p, 0, 1)});
  }
  return make_atoms(std::move(atoms), Interval::exactly(0), clamp(1.0 - Interval::exactly(polygon.back().first), 0, 1), false);
}

// [sparse-vector-witness]
Atoms symmetric_atoms_of_polygon(const std::vector<TestPoint>& polygon) {
  std::vector<TestPoint> mirrored;
  for (const auto& [x, y] : polygon) mirrored.emplace_back(std::min(1.0, rest_up(y)), std::max(0.0, rest_down(x)));
  mirrored = polygon_over(std::move(mirrored));
  std::vector<TestPoint> points;
  for (const std::vector<TestPoint>& one : {polygon, mirrored})
    for (const auto& [x, y] : one) {
      const double height = std::min(height_at(polygon, x), height_at(mirrored, x));
      if (x > 0 && numeric::add_up(x, height) <= 1) points.emplace_back(x, height);
    }
  std::vector<TestPoint> chain = polygon_over(std::move(points));
  chain.pop_back();  // (1, 1)
  const auto steep = [&](std::size_t i) {
    return chain[i].second - chain[i - 1].second > (chain[i].first - chain[i - 1].first) * (1 + 1e-12);
  };
  while (chain.size() > 1 && !steep(chain.size() - 1)) chain.pop_back();
  std::vector<Atom> atoms;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const Interval q = Interval::exactly(chain[i].first) - chain[i - 1].first, p = Interval::exactly(chain[i].second) - chain[i - 1].second;
    const Interval loss = log(p / q);
    atoms.push_back({loss, clamp(p, 0, 1)});
    atoms.push_back({-loss, clamp(q, 0, 1)});
  }
  const Interval same = 1.0 - Interval::exactly(chain.back().first) - chain.back().second;
  atoms.push_back({Interval::exactly(0), clamp(same, 0, 1)});
  return make_atoms(std::move(atoms), Interval::exactly(0), Interval::exactly(0), true);
}

// [sparse-vector-witness]
Atoms either_order(const Atoms& atoms) {
  const Atoms other = swapped(atoms);
  std::vector<Atom> both;
  for (const Atoms* one : {&atoms, &other})
    for (const Atom& atom : one->finite) both.push_back({atom.loss, atom.mass / 2.0});
  const Interval infinite = (atoms.infinite + atoms.other_infinite) / 2.0;
  return make_atoms(std::move(both), infinite, infinite, true);
}

}  // namespace tradeoff::detail
