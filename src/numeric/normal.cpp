// SPDX-License-Identifier: Apache-2.0
#include "numeric/normal.h"

#include "numeric/mills.h"
#include "numeric/root.h"

// [normal-functions]
namespace tradeoff::detail {
namespace {

using numeric::Approximation;
using numeric::around;
using numeric::far_away;

Interval density_at(double x) {
  if (std::abs(x) == infinity) return Interval::exactly(0);
  const numeric::Density density = numeric::density({{x, 0}, 0});
  return numeric::around(density.value.value * density.tail, density.value.relative_error);
}

/// 1 - Phi(x) for x >= 0.
Interval tail_at(double x) {
  if (x == infinity) return Interval::exactly(0);
  const numeric::Density density = numeric::density({{x, 0}, 0});
  const Approximation mills = numeric::mills({{x, 0}, 0});
  return numeric::around(density.value.value * mills.value * density.tail, density.value.relative_error + mills.relative_error);
}

Interval mills_at(double x) {
  if (x >= -1) return around(numeric::mills({{x, 0}, 0}));
  // Mills(x) + Mills(-x) = 1 / phi(x); the subtraction loses no accuracy, because Mills(-x) < 1/6 of the sum.
  if (x < -37) return {1e297, infinity};  // 1 / phi(-37) > 1e297, and beyond -38.6 it overflows
  return 1 / density_at(x) - around(numeric::mills({{-x, 0}, 0}));
}

Interval cdf_at(double x) { return x <= 0 ? tail_at(-x) : clamp(1 - tail_at(x), 0, 1); }

Interval log_cdf_at(double x) {
  if (x > 0) return log1p(-tail_at(x));
  if (x == -infinity) return Interval::exactly(-infinity);
  if (x < -far_away) return {-infinity, -far_away};
  const numeric::LogDensity density = numeric::log_density({{x, 0}, 0});
  return Interval{density.value - density.error, density.value + density.error} + log(around(numeric::mills({{-x, 0}, 0})));
}

/// Phi(x) - 1/2 for 0 <= x <= 1, relatively accurate at 0: phi(x) (Mills(-x) - Mills(x)).
Interval central_at(double x) {
  if (x == 0) return Interval::exactly(0);
  const numeric::Density density = numeric::density({{x, 0}, 0});
  const numeric::MillsDifference difference = numeric::mills_difference({{-x, 0}, 0}, {{x, 0}, 0}, 2 * x);
  return numeric::around(density.value.value * difference.factor.value * (difference.scale / 2),
                         density.value.relative_error + difference.factor.relative_error);
}

/// A starting value for Phi^-1(exp(log_p)), log_p <= log(1/2): Hastings' rational form, then Newton on log Phi, which is concave.
double guess_quantile(double log_p) {
  const double t = std::sqrt(-2 * log_p);
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int i = 0; i < 4; ++i) {
    const double step = (log_p - middle_of(log_cdf_at(x))) * numeric::mills({{-x, 0}, 0}).value;
    x = std::min(x + step, 0.0);
    if (std::abs(step) < 1e-9 * std::abs(x)) break;  // the next step would be below one unit in the last place
  }
  return x;
}

/// Phi^-1(1/2 + t) for |t| <= 1/4.
Interval central_quantile(double t) {
  if (t < 0) return -central_quantile(-t);
  if (t == 0) return Interval::exactly(0);
  double x = t * 2.5066282746310002;
  for (int i = 0; i < 4; ++i) x += (t - middle_of(central_at(x))) / middle_of(density_at(x));
  return numeric::increasing_root(central_at, Interval::exactly(t), x, {0, 1});
}

Interval log_quantile_at(double log_p) {
  constexpr double log_half = -0.6931471805599453;
  if (log_p >= 0) return Interval::exactly(infinity);
  if (log_p < -1e299) return {-infinity, -1e149};
  const Interval target = Interval::exactly(log_p);
  if (log_p < log_half) return numeric::increasing_root(log_cdf_at, target, guess_quantile(log_p), {-infinity, 1});
  // Above 1/2, where log Phi is flat, the complement has the accuracy.
  const Interval complement = -expm1(target);
  return -normal_quantile(complement);
}

Interval quantile_at(double p) {
  if (p <= 0) return Interval::exactly(-infinity);
  if (p >= 1) return Interval::exactly(infinity);
  if (p >= 0.25 && p <= 0.75) return central_quantile(p - 0.5);  // exact difference
  if (p > 0.5) return -quantile_at(1 - p);                       // exact difference
  if (p < 1e-290) return hull(log_quantile_at(log(Interval::exactly(p)).lo), log_quantile_at(log(Interval::exactly(p)).hi));
  return numeric::increasing_root(cdf_at, Interval::exactly(p), guess_quantile(std::log(p)), {-infinity, 0});
}

template <class Function>
Interval increasing(Function at, Interval x) {
  const Interval low = at(x.lo);
  return x.lo == x.hi ? low : Interval{low.lo, at(x.hi).hi};
}

}  // namespace

Interval normal_density(Interval x) {
  const double nearest = x.contains(0) ? 0 : std::min(std::abs(x.lo), std::abs(x.hi));
  const double farthest = std::max(std::abs(x.lo), std::abs(x.hi));
  const Interval largest = density_at(nearest);
  return nearest == farthest ? largest : Interval{density_at(farthest).lo, largest.hi};
}
Interval mills_ratio(Interval x) {
  const Interval largest = mills_at(x.lo);
  return x.lo == x.hi ? largest : Interval{mills_at(x.hi).lo, largest.hi};
}
Interval normal_cdf(Interval x) { return increasing(cdf_at, x); }
Interval log_normal_cdf(Interval x) { return increasing(log_cdf_at, x); }
Interval normal_quantile(Interval p) { return increasing(quantile_at, p); }
Interval normal_quantile_of_log(Interval log_p) { return increasing(log_quantile_at, log_p); }

}  // namespace tradeoff::detail
