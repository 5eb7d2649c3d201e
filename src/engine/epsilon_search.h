// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "loss/loss.h"
#include "numeric/root.h"

namespace tradeoff::detail {

/// Encloses the epsilon >= 0 at which a profile falls to delta, by its values alone: for engines whose values are quick. The search begins
/// near `guess` > 0. [profile-inversion]
[[nodiscard]] inline Interval epsilon_by_values(const Loss& loss, Direction direction, Interval delta, double guess = 1,
                                                double relative_step = 1) {
  constexpr double largest_epsilon = 1e6;  // no search goes further
  const Interval target = log(delta);
  const auto judge = [&](double epsilon) {
    const Interval value = loss.log_delta(direction, Interval::exactly(epsilon));
    const double excess = value.hi == -infinity   ? -1e3
                          : value.lo == -infinity ? value.hi - middle_of(target)
                                                  : middle_of(value) - middle_of(target);
    return numeric::Verdict{value.lo > target.hi, value.hi <= target.lo, excess, 0.5 * (value.width() + target.width())};
  };
  double low = 0, high = guess;
  numeric::Verdict below, above = judge(high);
  for (double step = relative_step * guess; !above.after && high < largest_epsilon; step *= 4, above = judge(high)) {
    if (above.before) low = high, below = above;
    high += step;
  }
  for (double step = relative_step * guess; !below.before; step *= 4) {
    low = std::max(0.0, std::min(low > 0 ? low : guess, guess) - step);
    below = judge(low);
    if (below.after) high = low, above = below;
    if (low == 0) break;
  }
  if (low == 0 && below.after) return Interval::exactly(0);
  const double least = below.before ? low : 0;
  if (!above.after) return {least, infinity};
  if (!below.before) return {0, high};
  return numeric::narrow_bracket(judge, low, below, high, above);
}

}  // namespace tradeoff::detail
