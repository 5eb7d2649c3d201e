// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// One value of the privacy loss L = log(P/Q) and its probability under P. Under Q the probability is mass * exp(-loss).
struct Atom {
  Interval loss;
  Interval mass;
};

/// A loss that takes finitely many values, for one direction.
/// Losses that are equal in exact arithmetic may be listed as several atoms; no result depends on that.
struct Atoms {
  std::vector<Atom> finite;  ///< losses in decreasing order, masses positive
  Interval infinite;         ///< P(L = +infinity): outcomes that Q cannot produce
  Interval other_infinite;   ///< Q(L = -infinity): outcomes that P cannot produce
  /// The law under Q is the mirror image of the law under P, so the mass at -l is exp(-l) times the mass at l, exactly.
  bool mirrored = false;
  /// With at most this probability an outcome reveals less than its atom here: delta may be smaller by this factor, never larger.
  double slack = 0;
};

/// Sorts by loss, merges atoms whose losses are given by the same interval, drops atoms of mass 0. `mirrored` is not checked. Throws
/// DomainError for a mass that is certainly negative and for a loss that is not finite.
[[nodiscard]] Atoms make_atoms(std::vector<Atom> finite, Interval infinite, Interval other_infinite, bool mirrored);

/// The law of log(p_i / q_i) under p, for two probability vectors of equal length. A sum that cannot be 1 is a DomainError.
[[nodiscard]] Atoms atoms_of_pair(const std::vector<Interval>& p, const std::vector<Interval>& q);

/// The swapped pair: negated losses, masses under Q.
[[nodiscard]] Atoms swapped(const Atoms& atoms);

/// The probability of one atom under Q. A mirrored law has it at the mirror image, also where exp(-loss) overflows.
[[nodiscard]] Interval mass_under_q(const Atoms& atoms, std::size_t index);

/// Encloses delta(e) = sum of mass * (1 - exp(e - loss))+ plus the infinite mass, for every e in `epsilon`; the second function encloses
/// its logarithm.
[[nodiscard]] Interval delta_of(const Atoms& atoms, Interval epsilon);
[[nodiscard]] Interval log_delta_of(const Atoms& atoms, Interval epsilon);

}  // namespace tradeoff::detail
