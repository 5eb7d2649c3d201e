// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/exact/law.h"
#include "engine/exact/wide_math.h"
#include "numeric/arithmetic.h"

// Converts long double values with known log errors to intervals of doubles.
namespace tradeoff::detail::exact {

struct Ends {
  Wide lo = 0;
  Wide hi = 0;
};

/// Nearest doubles outside a value whose relative error is at most a few units of long double.
[[nodiscard]] inline double outward_up(Wide x) { return x <= 0 ? 0 : numeric::up_by(static_cast<double>(x), 2); }
[[nodiscard]] inline double outward_down(Wide x) { return x <= 0 ? 0 : std::max(0.0, numeric::down_by(static_cast<double>(x), 2)); }

/// exp(+-error) as factors, with a margin for their own rounding and for that of the expression they are used in.
[[nodiscard]] inline Wide enlarge(double error) {
  return 1 + (wide_expm1(static_cast<Wide>(error) * 1.0001L) + 64 * static_cast<Wide>(wide_unit));
}
[[nodiscard]] inline Wide shrink(double error) {
  return std::max<Wide>(0, 1 + (wide_expm1(-static_cast<Wide>(error) * 1.0001L) - 64 * static_cast<Wide>(wide_unit)));
}

[[nodiscard]] inline Interval log_of(Wide lo, Wide hi) {
  // libm is assumed accurate to 8 units of long double, and the result is rounded to double.
  const auto end = [](Wide x, bool above) {
    if (!(x > 0)) return -infinity;
    const double value = static_cast<double>(wide_log(x));
    return above ? numeric::up_by(value, 4) + 32 * wide_unit : numeric::down_by(value, 4) - 32 * wide_unit;
  };
  return {end(lo, false), end(hi, true)};
}

}  // namespace tradeoff::detail::exact
