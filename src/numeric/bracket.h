// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "tradeoff/interval.h"

namespace tradeoff::numeric {

/// What is known at a point about the place where a monotone condition changes.
struct Verdict {
  bool before = false;  ///< the change certainly lies above the point
  bool after = false;   ///< the change certainly lies at or below the point
  double excess = 0;    ///< roughly proportional to the distance from the change, positive before it; only guides the search
};

/// Encloses the change of a monotone condition between `low`, which is certainly before it, and `high`, which is certainly after.
/// Both ends of the result are certain in the same sense. `judge(x)` is called at most about 150 times.
template <class Judge>
[[nodiscard]] Interval narrow_bracket(Judge&& judge, double low, double high) {
  // Closer than a few units in the last place two points are the same to a reader.
  const auto settled = [](double a, double b) { return !(b - a > 8e-16 * std::abs(b)); };
  double low_excess = judge(low).excess;
  double high_excess = judge(high).excess;
  double middle = high;
  int same_side = 0;  // Illinois: an end that stays twice has its excess halved, so the secant cannot creep
  for (int i = 0; i < 100 && !settled(low, high); ++i) {
    const double secant = low + (high - low) * (low_excess / (low_excess - high_excess));
    middle = i % 4 != 3 && secant > low && secant < high ? secant : low + (high - low) / 2;
    const Verdict verdict = judge(middle);
    if (verdict.before) {
      low = middle;
      low_excess = verdict.excess;
      same_side = same_side > 0 ? same_side + 1 : 1;
      if (same_side > 1) high_excess /= 2;
    } else if (verdict.after) {
      high = middle;
      high_excess = verdict.excess;
      same_side = same_side < 0 ? same_side - 1 : -1;
      if (same_side < -1) low_excess /= 2;
    } else {
      break;
    }
  }
  // An undecided point lies between: close in on it from both sides, doubling the distance until a point is decided.
  const double smallest = 4e-16 * std::abs(middle) + 1e-300;
  for (double step = smallest; middle > low && middle + step < high; step *= 2)
    if (judge(middle + step).after) high = middle + step;
  for (double step = smallest; middle < high && middle - step > low; step *= 2)
    if (judge(middle - step).before) low = middle - step;
  return {low, high};
}

}  // namespace tradeoff::numeric
