// SPDX-License-Identifier: Apache-2.0
#include "loss/atoms_profile.h"

#include <algorithm>
#include <iterator>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {

AtomsProfile::AtomsProfile(const Atoms& atoms) : infinite_(atoms.infinite), slack_(atoms.slack) {
  std::vector<std::pair<double, double>> above, below;
  for (const Atom& atom : atoms.finite) {
    above.emplace_back(atom.loss.hi, atom.mass.hi);
    below.emplace_back(atom.loss.lo, atom.mass.lo);
  }
  above_ = corners_of(std::move(above));
  below_ = corners_of(std::move(below));
}

// All terms are positive, so nothing cancels: the relative errors of 2^20 corners, each below 2^-79 (a distance of 800 is divided into 1600
// halves), sum to less than 2^-59, and `at` allows for 2^-51.
AtomsProfile::Corners AtomsProfile::corners_of(std::vector<std::pair<double, double>> atoms) {
  using numeric::DoubleDouble;
  static const DoubleDouble share_of_half = numeric::complement_of_exp({0.5, 0});
  constexpr double far = 800;  // exp(-far) underflows
  std::stable_sort(atoms.begin(), atoms.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Corners corners;
  corners.reserve(atoms.size());
  DoubleDouble height{0, 0}, weight{0, 0};
  const auto move = [&](DoubleDouble share) {
    height = height + weight * share;
    weight = weight - weight * share;
  };
  for (const auto& [loss, mass] : atoms) {
    if (!corners.empty()) {
      DoubleDouble distance = numeric::two_sum(corners.back().loss, -loss);
      if (distance.high > far) {
        height = height + weight;
        weight = {0, 0};
      } else {
        for (; distance.high > 0.5; distance = distance + -0.5) move(share_of_half);
        move(numeric::complement_of_exp(distance));
      }
    }
    weight = weight + mass;
    corners.push_back({loss, height, weight});
  }
  return corners;
}

/// Encloses the sum of mass * (1 - exp(e - loss))+ over exact atoms.
Interval AtomsProfile::at(const Corners& corners, double epsilon) {
  constexpr double underflow = 1e-300;  // more than all that underflows in the sums
  const auto next = std::partition_point(corners.begin(), corners.end(), [&](const Corner& corner) { return corner.loss > epsilon; });
  if (next == corners.begin()) return Interval::exactly(0);
  const Corner& corner = *std::prev(next);
  const auto enclosed = [](numeric::DoubleDouble number) {
    return Interval{numeric::down_by(number.high, 2), numeric::up_by(number.high, 2)};
  };
  const Interval sum =
      enclosed(corner.height) + enclosed(corner.weight) * -expm1(Interval::exactly(epsilon) - Interval::exactly(corner.loss));
  return {std::max(0.0, numeric::down_by(sum.lo - underflow, 1)), numeric::up_by(sum.hi + underflow, 1)};
}

Interval AtomsProfile::delta(Interval epsilon) const {
  const Interval above = clamp(infinite_ + at(above_, epsilon.lo), 0, 1), below = clamp(infinite_ + at(below_, epsilon.hi), 0, 1);
  const double hi = above.hi, lo = (below * (1 - Interval::exactly(slack_))).lo;
  return {std::min(lo, hi), hi};
}

}  // namespace tradeoff::detail
