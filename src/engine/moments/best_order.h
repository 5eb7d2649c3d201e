// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "numeric/minimize.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// What a conversion of Renyi divergences gives at its best order; an infinite order if no order gives anything.
struct BestOrder {
  Interval value{0, std::numeric_limits<double>::infinity()};
  double order = std::numeric_limits<double>::infinity();
};

/// The order with the least conversion: a scan in log(order - 1), then a golden section. Every order is valid; the search affects tightness
/// only.
template <class Convert>
[[nodiscard]] BestOrder best_order_of(Convert&& convert) {
  constexpr double least = 1.0 / 64, largest = 1 << 18;  // covers epsilon from hundreds down to 1e-5 and delta down to 1e-300
  constexpr int steps = 28;
  const double stride = std::log(largest / least) / steps;
  BestOrder best;
  double best_log = 0;
  const auto attempt = [&](double log_order) {
    const double order = 1 + std::exp(log_order);
    const Interval value = convert(order);
    if (value.hi < best.value.hi) {
      best = {value, order};
      best_log = log_order;
    }
    return value.hi;
  };
  int worse = 0;
  for (int i = 0; i <= steps && worse < 4; ++i) {  // beyond the best order the value only increases, and large orders cost most
    const double before = best.value.hi;
    attempt(std::log(least) + stride * i);
    worse = best.value.hi < before ? 0 : worse + (before < std::numeric_limits<double>::infinity() ? 1 : 0);
  }
  if (!(best.value.hi < std::numeric_limits<double>::infinity())) return best;
  (void)numeric::golden_section(attempt, best_log - stride, best_log + stride, 1e-5);
  return best;
}

}  // namespace tradeoff::detail
