// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "numeric/lanes.h"

// Loops over arrays of doubles, with results that are identical to the last bit on every processor.
namespace tradeoff::detail::numeric {

/// Weights (eight real parts, then eight imaginary ones, block after block) of nodes whose phases change by one angle from block to block.
struct Turning {
  const double* profile;  ///< two lists of weights
  const double* fall;
  std::size_t blocks;
  const double* first;  ///< the phases of the first block, in the same form
  double block_angle;
};
/// The real parts of the sums of weights times phases.
struct TurnedSums {
  double profile = 0;
  double fall = 0;
};
inline constexpr std::size_t turns = 16;  ///< blocks before the angle is computed anew
[[nodiscard]] TurnedSums turned_sums(const Turning& turning);

/// The exponents power * modulus + t * argument - square at the ends of cells, one more than cells, and the increase allowed inside.
struct Cells {
  double power;
  double t;
  double bend;  ///< factor of the curvature
  const double* modulus;
  const double* argument;
  const double* square;
  const double* curvature;
  std::size_t count;
};
/// The maximum over the cells of the larger end plus bend * curvature.
[[nodiscard]] double largest_cell(const Cells& cells);

}  // namespace tradeoff::detail::numeric
