// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"

namespace tradeoff::detail::report {

/// The loss of accuracy if `summary` is stated instead of the curve: the least k such that f(alpha + k) - k <= g(alpha) everywhere, for the
/// symmetric trade-off functions f of the curve and g of the summary, which is a valid guarantee for the curve. 0 if nothing is lost; the
/// summary never understates a false-positive and a false-negative rate by more than this. The interval is narrow enough to print.
/// [summary-regret]
[[nodiscard]] Interval regret_of(const Curve& curve, const Curve& summary);

}  // namespace tradeoff::detail::report
