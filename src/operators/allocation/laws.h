// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lattice/pair.h"
#include "operators/allocation/summand.h"
#include "tradeoff/interval.h"

// Two distributions on a lattice between which a summand lies in convex order: spread from its cells to their ends, and contracted by a
// minorant of its call function. Sums of independent summands keep the order. [allocation-laws]
namespace tradeoff::detail::allocation {

/// Atoms at index * h + origin, origin exact. Masses are bounds on the safe side; their sum need not be 1.
struct LatticeLaw {
  lattice::Law law;
  double origin = 0;
  double top = 0;  ///< what lies above is not in the law, if it was cut there
};

/// The part of the summand that a law covers.
struct Cut {
  double low = 0;   ///< what lies below is moved (above) or dropped (below)
  double high = 0;  ///< what lies above is moved to here, left out (`restricted`) or dropped (below)
  bool restricted = false;
  bool for_puts = false;  ///< the payoff falls: masses below `low` are moved to 0 instead of `low`
};

/// A step of few bits, so that multiples of it are exact.
[[nodiscard]] double short_step(double h);

/// E psi of the sum grows, for convex psi; with `restricted` for the part of the law below `top`, a multiple of h not below cut.high.
[[nodiscard]] LatticeLaw spread_law(const Summand& summand, double h, const Cut& cut);
/// E psi of the sum falls, for convex psi >= 0 that rises (or falls, if `for_puts`). Empty if the step is too coarse. With `restricted`,
/// for the part of the law below `top`, which is not below cut.high.
[[nodiscard]] LatticeLaw contracted_law(const Summand& summand, double h, const Cut& cut);

}  // namespace tradeoff::detail::allocation
