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

namespace tradeoff::detail::exact {

// Masses are summed in long double. In the 80-bit format a million sequential roundings cost 5e-14 relative, and masses go down to
// e^-11355, so neither logarithms nor scaling are needed. Every bound below is stated in the unit roundoff of long double: if long double
// is double, the answers are wider and still valid.
using Wide = long double;
inline constexpr double wide_unit = std::max(static_cast<double>(std::numeric_limits<Wide>::epsilon()) / 2, 0x1p-64);  // see wide_math.h
/// Smaller masses are dropped and counted as lost. The limit is 70 bits above the smallest normal number, so that products still have a
/// relative rounding error.
inline constexpr Wide smallest_mass = std::numeric_limits<Wide>::min() * 0x1p70L;

struct Point {
  double loss;
  Wide mass;
};

/// The distribution of a finite loss, with total mass 1, and three numbers that bound its errors [atom-kernel].
struct Law {
  std::vector<Point> points;  ///< in decreasing order of loss
  double shift = 0;           ///< every exact loss is within this distance of the listed one
  double jitter = 0;          ///< equal exact losses are listed within twice this distance
  double spread = 0;          ///< |log(true mass / listed mass)| is at most this
  Wide lost = 0;              ///< exact mass that is not listed
  double highest = 0;         ///< no exact loss is above this, listed or not
  double lowest = 0;          ///< no exact loss is below this
};

/// Larger compositions are not done exactly: 4 million points take 130 MB, 10^9 terms a few seconds. WebAssembly computes long double in
/// software, thirty times slower, and has less memory.
#if defined(__wasm__)
inline constexpr double most_points = 3e5;
inline constexpr double most_terms = 3e7;
#else
inline constexpr double most_points = 4.2e6;
inline constexpr double most_terms = 1e9;
#endif

/// The size of an exact power or product.
struct Size {
  double points = 0;
  double terms = 0;  ///< multiplications
  [[nodiscard]] bool fits() const { return points <= most_points && terms <= most_terms; }
};

/// The middle of an enclosure, the distance of its ends from it and, for a positive one, the distance of the logarithms; with a margin for
/// the rounding of the middle.
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

/// Merges runs of points whose losses lie within twice the jitter of the first of the run, and drops masses that are too small.
void join_close(Law& law);

/// The distribution of the sum of two independent losses; losses closer than their uncertainty are merged.
[[nodiscard]] Law product(const Law& a, const Law& b);

/// The same for losses that are all multiples of a step, within rounding: cell by cell, so that equal losses are always merged.
[[nodiscard]] Law lattice_product(const Law& a, const Law& b, Wide step);

/// A step h of which all the values are integer multiples, within rounding; empty if there is none.
struct Lattice {
  Wide step = 0;
  std::vector<std::int64_t> multiples;
};
[[nodiscard]] std::optional<Lattice> common_lattice(const std::vector<Interval>& values);

}  // namespace tradeoff::detail::exact
