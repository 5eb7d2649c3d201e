// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "loss/atoms.h"
#include "numeric/arithmetic.h"

namespace tradeoff::exact {

// Masses are summed in long double. Where it is the 80-bit format, a million sequential roundings cost 5e-14 relative and masses reach
// down to e^-11355, so that neither logarithms nor scaling are needed. Every bound below is stated in its unit roundoff: where long
// double is only double the answers stay true and get wider.
using Wide = long double;
inline constexpr double wide_unit = static_cast<double>(std::numeric_limits<Wide>::epsilon()) / 2;
/// Masses below this are not kept but counted as lost: 70 bits above the smallest normal number, products still round relatively.
inline constexpr Wide smallest_mass = std::numeric_limits<Wide>::min() * 0x1p70L;

struct Point {
  double loss;
  Wide mass;
};

/// The law of a finite loss, total mass 1, known up to three numbers [atom-kernel].
struct Law {
  std::vector<Point> points;  ///< in decreasing order of loss
  double shift = 0;           ///< every true loss is within this distance of the listed one
  double jitter = 0;          ///< losses that are equal in truth are listed within twice this distance
  double spread = 0;          ///< |log(true mass / listed mass)| is at most this
  Wide lost = 0;              ///< true mass that is not listed at all
  double highest = 0;         ///< no true loss is above this, listed or not
  double lowest = 0;          ///< nor below this
};

/// Above these a composition is not attempted exactly: 4 million points take 130 MB, 10^9 terms a few seconds.
inline constexpr double most_points = 4.2e6;
inline constexpr double most_terms = 1e9;

/// How large an exact power or product would be.
struct Size {
  double points = 0;
  double terms = 0;  ///< multiplications
  [[nodiscard]] bool fits() const { return points <= most_points && terms <= most_terms; }
};

/// The middle of an enclosure, how far its ends are from it, and for a positive one how far the logarithms are: with room for the
/// rounding of the middle itself.
[[nodiscard]] inline Wide middle(Interval a) { return (static_cast<Wide>(a.lo) + static_cast<Wide>(a.hi)) / 2; }
[[nodiscard]] inline double radius(Interval a) {
  return numeric::up_by((a.hi - a.lo) / 2 + std::max(std::abs(a.lo), std::abs(a.hi)) * wide_unit, 2);
}
[[nodiscard]] inline double log_radius(Interval a) {
  return a.lo > 0 ? numeric::up_by((a.hi - a.lo) / (2 * a.lo), 4) + 2 * wide_unit : infinity;
}

[[nodiscard]] inline double largest_loss(const Law& law) {
  return law.points.empty() ? 0 : std::max(std::abs(law.points.front().loss), std::abs(law.points.back().loss));
}

/// Joins runs of points whose losses lie within twice the jitter of the first of the run, and drops what is too small to keep.
void join_close(Law& law);

/// The law of the sum of two independent losses; losses closer than their uncertainty are joined.
[[nodiscard]] Law product(const Law& a, const Law& b);

/// The same for losses that are all multiples of a step, as far as rounding lets one see: cell by cell, equal losses never apart.
[[nodiscard]] Law lattice_product(const Law& a, const Law& b, Wide step);

/// A step h of which all the values are integer multiples, as far as rounding lets one see; nothing if there is none.
struct Lattice {
  Wide step = 0;
  std::vector<std::int64_t> multiples;
};
[[nodiscard]] std::optional<Lattice> common_lattice(const std::vector<Interval>& values);

}  // namespace tradeoff::exact
