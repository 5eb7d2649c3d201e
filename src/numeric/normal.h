// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numeric/arithmetic.h"

// The normal distribution with proved bounds: every function encloses the exact value for every argument in its interval, infinite ends
// included, and none returns NaN. Errors are bounded in advance (forward functions) or verified afterwards (quantiles). [normal-functions]
namespace tradeoff::detail {

/// exp(-x^2/2) / sqrt(2 pi).
[[nodiscard]] Interval normal_density(Interval x);
/// Mills(x) = (1 - Phi(x)) / phi(x) = sqrt(pi/2) erfcx(x / sqrt 2), decreasing; infinite above once it overflows (x < -37).
[[nodiscard]] Interval mills_ratio(Interval x);

/// Phi(x). The complement 1 - Phi(x) is normal_cdf(-x).
[[nodiscard]] Interval normal_cdf(Interval x);
/// log Phi(x), accurate for x from -1e154 to +38 and beyond.
[[nodiscard]] Interval log_normal_cdf(Interval x);

/// Phi^-1(p), p clipped to [0, 1]; -infinity at 0, +infinity at 1. Relatively accurate near p = 1/2 too.
[[nodiscard]] Interval normal_quantile(Interval p);
/// Phi^-1(1 - q): the quantile of a probability given by its complement.
[[nodiscard]] inline Interval normal_quantile_of_complement(Interval q) { return -normal_quantile(q); }
/// Phi^-1(exp(log_p)), log_p <= 0 (clipped), down to log_p = -1e300.
[[nodiscard]] Interval normal_quantile_of_log(Interval log_p);

[[nodiscard]] inline Interval normal_density(double x) { return normal_density(Interval::exactly(x)); }
[[nodiscard]] inline Interval mills_ratio(double x) { return mills_ratio(Interval::exactly(x)); }
[[nodiscard]] inline Interval normal_cdf(double x) { return normal_cdf(Interval::exactly(x)); }
[[nodiscard]] inline Interval log_normal_cdf(double x) { return log_normal_cdf(Interval::exactly(x)); }
[[nodiscard]] inline Interval normal_quantile(double p) { return normal_quantile(Interval::exactly(p)); }
[[nodiscard]] inline Interval normal_quantile_of_complement(double q) { return normal_quantile_of_complement(Interval::exactly(q)); }
[[nodiscard]] inline Interval normal_quantile_of_log(double log_p) { return normal_quantile_of_log(Interval::exactly(log_p)); }

}  // namespace tradeoff::detail
