// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "tradeoff/interval.h"

namespace tradeoff::numeric {

/// What is known at a point about the position at which a monotone condition changes.
struct Verdict {
  bool before = false;  ///< the change certainly lies above the point
  bool after = false;   ///< the change certainly lies at or below the point
  double excess = 0;    ///< roughly proportional to the distance from the change, positive before it; it only guides the search
  double doubt = 0;     ///< the error of the excess, if known; it only guides the search
};

/// Encloses the change of a monotone condition between `low`, which is certainly before it, and `high`, which is certainly after it. Both
/// ends of the result are certain in the same sense. `judge(x)` is called at most about 150 times; its values at the ends are given.
template <class Judge>
[[nodiscard]] Interval narrow_bracket(Judge&& judge, double low, const Verdict& at_low, double high, const Verdict& at_high) {
  // Points closer than a few units in the last place are treated as equal.
  const auto settled = [](double a, double b) { return !(b - a > 8e-16 * std::abs(b)); };
  double low_excess = at_low.excess, high_excess = at_high.excess;
  double slope = (high_excess - low_excess) / (high - low);
  double middle = high, width = high - low;
  Verdict verdict;
  int last_side = 0;
  for (int i = 0; i < 100 && !settled(low, high); ++i) {
    const double secant = low + (high - low) * (low_excess / (low_excess - high_excess));
    // After three steps that do not halve the bracket it bisects once; a long search only bisects.
    bool halve = i > 40;
    if (i % 4 == 3) {
      halve = halve || high - low > 0.5 * width;
      width = high - low;
    }
    middle = !halve && secant > low && secant < high ? secant : low + (high - low) / 2;
    verdict = judge(middle);
    if (!verdict.before && !verdict.after) break;
    // Anderson and Bjorck: if one end stays, its excess is reduced by the slope that the moving end shows, so that the secant method does
    // not stall.
    const double share = 1 - verdict.excess / (verdict.before ? low_excess : high_excess);
    const double cut = share > 0 ? share : 0.5;
    slope = (verdict.excess - (verdict.before ? low_excess : high_excess)) / (middle - (verdict.before ? low : high));
    if (verdict.before) {
      low = middle;
      low_excess = verdict.excess;
      if (last_side > 0) high_excess *= cut;
      last_side = 1;
    } else {
      high = middle;
      high_excess = verdict.excess;
      if (last_side < 0) low_excess *= cut;
      last_side = -1;
    }
  }
  // The change lies near an undecided point: approach it from both sides, starting at the distance that its error suggests and doubling the
  // distance until a point is decided.
  const double smallest = 4e-16 * std::abs(middle) + 1e-300;
  const auto first_step = [&](double doubt) {
    const double step = 1.2 * doubt / std::abs(slope);
    return step > smallest && step < 0.25 * (high - low) ? step : smallest;  // also for NaN
  };
  for (double step = first_step(verdict.doubt + verdict.excess); middle > low && middle + step < high; step *= 2)
    if (judge(middle + step).after) high = middle + step;
  for (double step = first_step(verdict.doubt - verdict.excess); middle < high && middle - step > low; step *= 2)
    if (judge(middle - step).before) low = middle - step;
  return {low, high};
}
template <class Judge>
[[nodiscard]] Interval narrow_bracket(Judge&& judge, double low, double high) {
  return narrow_bracket(judge, low, judge(low), high, judge(high));
}

}  // namespace tradeoff::numeric
