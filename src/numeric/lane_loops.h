// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// The exponents constant_j + sum over i of factor_i slope_ij.
struct Exponents {
  const double* constant;
  std::array<const double*, 3> slopes;
  std::array<double, 3> factors;
  std::size_t slope_count;  ///< 1 to 3
  std::size_t count;
};
[[nodiscard]] double largest_exponent(const Exponents& exponents);
/// The sum of exp(exponent_j - scale), with a relative error of at most (count / 4 + 20) u. A term below e^-700 counts as e^-700, so the
/// sum is not too small. It is infinite if a term exceeds e^600 or an exponent is NaN.
[[nodiscard]] double sum_of_exponentials(const Exponents& exponents, double scale);

/// Terms exp(exponent_j - scale + i angle_j), each with two numbers that are summed in proportion to its modulus.
struct PolarTerms {
  Exponents exponents;
  Exponents angles;  ///< both with two slopes
  double scale;
  const double* first;
  const double* second;
};
struct PolarSum {
  double real = 0;
  double imaginary = 0;
  double modulus = 0;
  double first = 0;
  double second = 0;
};
/// The sums of the terms, of their moduli, and of their moduli times the two numbers. The real and the imaginary part err by at most 20 u
/// times `modulus`, 2 u times themselves and 2e-26 times the number of terms, because terms below e^-60 count with any angle; the others
/// err by (count / 4 + 20) u of themselves. The modulus is infinite if a term exceeds e^600, the angle of a larger one exceeds
/// `trigonometry_limit`, or an exponent or such an angle is NaN.
[[nodiscard]] PolarSum sum_of_polar_terms(const PolarTerms& terms);

}  // namespace tradeoff::detail::numeric
