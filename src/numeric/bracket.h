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
  double doubt = 0;     ///< how far the excess may be off, if that is known; only guides the search
};

/// Encloses the change of a monotone condition between `low`, which is certainly before it, and `high`, which is certainly after.
/// Both ends of the result are certain in the same sense. `judge(x)` is called at most about 150 times; what it says of the ends is known.
template <class Judge>
[[nodiscard]] Interval narrow_bracket(Judge&& judge, double low, const Verdict& at_low, double high, const Verdict& at_high) {
  // Closer than a few units in the last place two points are the same to a reader.
  const auto settled = [](double a, double b) { return !(b - a > 8e-16 * std::abs(b)); };
  double low_excess = at_low.excess, high_excess = at_high.excess;
  double slope = (high_excess - low_excess) / (high - low);
  double middle = high, width = high - low;
  Verdict verdict;
  int last_side = 0;
  for (int i = 0; i < 100 && !settled(low, high); ++i) {
    const double secant = low + (high - low) * (low_excess / (low_excess - high_excess));
    // Three steps that do not halve the bracket are followed by one that does, and a search that is long already halves only.
    bool halve = i > 40;
    if (i % 4 == 3) {
      halve = halve || high - low > 0.5 * width;
      width = high - low;
    }
    middle = !halve && secant > low && secant < high ? secant : low + (high - low) / 2;
    verdict = judge(middle);
    if (!verdict.before && !verdict.after) break;
    // Anderson and Bjorck: an end that stays has its excess cut by what the moving one says of the curve, so the secant cannot creep.
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
  // An undecided point lies between: close in on it from both sides, by as much as the doubt about it asks for, doubling the distance
  // until a point is decided.
  const double smallest = 4e-16 * std::abs(middle) + 1e-300;
  const auto first_step = [&](double doubt) {
    const double step = 1.2 * doubt / std::abs(slope);
    return step > smallest && step < 0.25 * (high - low) ? step : smallest;  // also where it is not a number
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
