// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "numeric/lane_trigonometry.h"
#include "numeric/lanes.h"

namespace tradeoff::detail {

/// sum_j a_j (cos x_j - 1) and sum_j a_j (sin x_j - x_j) with x_j = fl(t l_j): sum_j a_j exp(i x_j) without 1 and the first moment, so that
/// no quantity of size 1 is rounded.
struct OscillationSum {
  double cosine;
  double sine;
};

/// The sums run in this many lanes, so `count` must be a multiple of it (pad with zero weights).
inline constexpr std::size_t oscillation_lanes = numeric::lane_count;
/// The error of each summand is at most this many u times a_j x_j^2 (docs/theory/contour-inversion.md, floating point).
inline constexpr double oscillation_units = 12;
/// The argument reduction is valid up to this |x|.
inline constexpr double oscillation_limit = numeric::trigonometry_limit;

[[nodiscard]] OscillationSum sum_oscillations(const double* weights, const double* losses, std::size_t count, double t);

}  // namespace tradeoff::detail
