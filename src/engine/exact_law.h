// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "mechanism/atoms.h"

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

[[nodiscard]] Size power_size(const Atoms& atoms, std::uint64_t times);

/// The law of `times` independent draws from the finite part of the atoms, normalised to total mass 1.
[[nodiscard]] Law power(const Atoms& atoms, std::uint64_t times);

/// The law of the sum of two independent losses; losses closer than their uncertainty are joined.
[[nodiscard]] Law product(const Law& a, const Law& b);

/// The same for losses that are all multiples of a step, as far as rounding lets one see: cell by cell, equal losses never apart.
[[nodiscard]] Law lattice_product(const Law& a, const Law& b, Wide step);

/// Binomial probabilities of 0..count successes at the given odds, from the mode outward and normalised, so that no factorial, power or
/// complement is formed. Entries are listed from `first`; those below `smallest_mass` are left out. The log error of an entry is at
/// most count * (8 wide_unit + 2 * the log error of the odds) + 4 wide_unit [atom-kernel].
struct BinomialRow {
  std::uint64_t first = 0;
  std::vector<Wide> mass;
};
[[nodiscard]] BinomialRow binomial_row(std::uint64_t count, Wide odds);

/// A step h of which all the values are integer multiples, as far as rounding lets one see; nothing if there is none.
struct Lattice {
  Wide step = 0;
  std::vector<std::int64_t> multiples;
};
[[nodiscard]] std::optional<Lattice> common_lattice(const std::vector<Interval>& values);

}  // namespace tradeoff::exact
