// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"

namespace tradeoff::report {

/// What is lost by saying `summary` instead of the curve: the least k such that f(alpha + k) - k <= g(alpha) everywhere, for the symmetric
/// trade-off functions f of the curve and g of the summary, a guarantee that the curve meets. 0 if nothing is lost; a false-
/// positive and a false-negative rate are never understated by more than this. The interval is narrow enough to print. [summary-regret]
[[nodiscard]] Interval regret_of(const Curve& curve, const Curve& summary);

}  // namespace tradeoff::report
