// SPDX-License-Identifier: Apache-2.0
#include "loss/arc.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr double log_factorial = 54.784729398112319;  // of Arc::size = 24

}  // namespace

Arc arc_over(double start, double end) {
  Arc arc;
  arc.start = start;
  arc.end = end;
  arc.middle = start + (end - start) / 2;
  const double furthest = std::max(std::abs(start), std::abs(end));
  arc.misplaced = 16 * unit_roundoff * furthest;
  arc.half = (end - start) / 2 * (1 + 1e-9) + 16 * unit_roundoff * furthest;  // middle and half are rounded, and both ends lie inside
  for (std::size_t i = 0; i < Arc::size; ++i)
    arc.points[i] = arc.middle + arc.half * std::cos((2 * static_cast<double>(i) + 1) * std::numbers::pi / (2.0 * Arc::size));
  return arc;
}

// [contour-arc]
double Arc::error_of_derivative(double log_derivative) const {
  constexpr auto n = static_cast<double>(size);
  return std::exp(log_derivative + n * std::log(half) - (n - 1) * std::numbers::ln2 - log_factorial) * (1 + 1e-6);
}

double Arc::error_of_wave(double t) const {
  return t > 0 ? std::min(1 + lebesgue, error_of_derivative(static_cast<double>(size) * std::log(t))) : 0;
}

}  // namespace tradeoff::detail
