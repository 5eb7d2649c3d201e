// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "tradeoff/interval.h"

namespace tradeoff::detail::numeric {

// The minimiser of a unimodal function between low and high, to `precision`: golden_section for any function, parabolic_section where the
// function is smooth, finite and expensive. They prove nothing: the caller must verify what it computes from the result.

/// The lowest point that was seen, and the bracket that was left.
struct Valley {
  double best = 0;
  Interval around;
};

/// Where two points have the same value, the search goes to the right.
template <class Function>
[[nodiscard]] Valley golden_section(Function&& function, double low, double high, double precision) {
  constexpr double golden = 0.6180339887498949;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double left_value = function(left), right_value = function(right);
  while (high - low > precision && left < right) {  // the second condition: neighbouring doubles
    if (left_value < right_value) {
      high = right;
      right = left;
      right_value = left_value;
      left = high - golden * (high - low);
      left_value = function(left);
    } else {
      low = left;
      left = right;
      left_value = right_value;
      right = low + golden * (high - low);
      right_value = function(right);
    }
  }
  return {left_value < right_value ? left : right, {low, high}};
}

/// Brent's method: steps to the minimum of the parabola through the last three points if that is inside and converges, otherwise golden
/// section. It needs a third of the evaluations for a smooth function.
template <class Function>
[[nodiscard]] double parabolic_section(Function&& function, double low, double high, double precision) {
  constexpr double golden = 0.3819660112501051;
  double best = low + golden * (high - low), second = best, third = best;
  double best_value = function(best), second_value = best_value, third_value = best_value;
  double step = 0, before = 0;
  const double least = precision / 4;
  for (int i = 0; i < 200 && high - low > precision && std::max(best - low, high - best) > 2 * least; ++i) {
    const double middle = low + (high - low) / 2;
    const double r = (best - second) * (best_value - third_value), q = (best - third) * (best_value - second_value);
    const double parabola = 2 * (q - r) != 0 ? ((best - second) * r - (best - third) * q) / (2 * (q - r)) : high - low;
    const bool inside = low + least < best + parabola && best + parabola < high - least;
    const bool converges = std::abs(parabola) < std::abs(before) / 2;
    before = inside && converges ? step : best < middle ? high - best : low - best;
    step = inside && converges ? parabola : golden * before;
    const double next = best + (std::abs(step) >= least ? step : std::copysign(least, step));
    const double value = function(next);
    if (value <= best_value) {
      (next < best ? high : low) = best;
      third = second;
      third_value = second_value;
      second = best;
      second_value = best_value;
      best = next;
      best_value = value;
      continue;
    }
    (next < best ? low : high) = next;
    if (value <= second_value || second == best) {
      third = second;
      third_value = second_value;
      second = next;
      second_value = value;
    } else if (value <= third_value || third == best || third == second) {
      third = next;
      third_value = value;
    }
  }
  return best;
}

}  // namespace tradeoff::detail::numeric
