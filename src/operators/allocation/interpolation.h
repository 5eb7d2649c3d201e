// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "numeric/double_double.h"

// Interpolation by the polynomial of degree 15 through 16 places of an even lattice, of a density times an exponential (a tilt).
// [allocation-doubling]
namespace tradeoff::detail::allocation {

inline constexpr std::size_t taps = 16;
inline constexpr std::size_t taps_before = 7;  ///< of them lie before the place at or below the one that is asked for

/// For a Gaussian of deviation g and slope x, in units of 1/g, and steps of at most `longest_step` g: the moduli of the weights, each times
/// the density at its place, add up to at most their plain sum (itself at most `weight_sum`) times cosh(8 step x) and the density; the
/// error is at most rest_factor (step/g)^16 cosh(rest_reach x) times it.
inline constexpr double longest_step = 0.1;
inline constexpr double weight_sum = 1.72;
inline constexpr double rest_factor = 6.25;
inline constexpr double rest_reach = 3.2;

/// The weights of the places -7, ..., 8 at x in [0, 1].
[[nodiscard]] inline std::array<double, taps> interpolation_weights(numeric::DoubleDouble x) {
  std::array<numeric::DoubleDouble, taps> distance, left, right;
  for (std::size_t t = 0; t < taps; ++t) distance[t] = x + (static_cast<double>(taps_before) - static_cast<double>(t));
  left[0] = right[taps - 1] = {1, 0};
  for (std::size_t t = 1; t < taps; ++t) left[t] = left[t - 1] * distance[t - 1];
  for (std::size_t t = taps - 1; t-- > 0;) right[t] = right[t + 1] * distance[t + 1];
  std::array<double, taps> weights{};
  for (std::size_t t = 0; t < taps; ++t) {
    double divisor = 1;  // t! (15 - t)! with its sign: exact
    for (std::size_t k = 0; k < taps; ++k)
      if (k != t) divisor *= static_cast<double>(t) - static_cast<double>(k);
    weights[t] = (left[t] * right[t] / divisor).value();
  }
  return weights;
}

}  // namespace tradeoff::detail::allocation
