// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/large_step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"

// [allocation-large-step]
namespace tradeoff::detail::allocation {
namespace {

/// One lognormal summand Y of mean 1 and log-variance s^2.
class Lognormal {
 public:
  explicit Lognormal(double s) : s_(Interval::exactly(s)) {}

  [[nodiscard]] Interval above(Interval y) const { return normal_cdf(-normal(y)); }
  /// E(Y; Y > y), E(Y; Y <= y), E(Y^2; Y <= y), E(Y - y)+, the density.
  [[nodiscard]] Interval mean_above(Interval y) const { return normal_cdf(s_ - normal(y)); }
  [[nodiscard]] Interval mean_below(Interval y) const { return normal_cdf(normal(y) - s_); }
  [[nodiscard]] Interval square_below(Interval y) const { return exp(square(s_)) * normal_cdf(normal(y) - 2.0 * s_); }
  [[nodiscard]] Interval call(Interval y) const { return max(mean_above(y) - y * above(y), Interval::exactly(0)); }
  [[nodiscard]] Interval density(Interval y) const { return normal_density(normal(y)) / (s_ * y); }

 private:
  [[nodiscard]] Interval normal(Interval y) const { return log(y) / s_ + s_ / 2.0; }
  Interval s_;
};

/// The quantities of one cut a: at most one summand beyond it matters.
class LargeStep {
 public:
  LargeStep(double s, double steps, double strike, double cut)
      : one_(s), others_(Interval::exactly(steps) - 1.0), strike_(Interval::exactly(strike)), cut_(Interval::exactly(cut)) {
    beyond_ = one_.above(cut_);
    const Interval below = 1.0 - beyond_;
    alone_ = exp(others_ * log1p(-beyond_));
    rest_ = strike_ - others_ * one_.mean_below(cut_) / below;
    variance_ = others_ * one_.square_below(cut_) / below;
  }

  [[nodiscard]] bool fits() const { return rest_.lo >= cut_.hi; }
  [[nodiscard]] double lower() const { return std::max(0.0, (alone_ * one_.call(rest_)).lo); }
  [[nodiscard]] double upper() const {
    const Interval largest_curvature = one_.density(cut_);
    const Interval single = alone_ * (one_.call(rest_) + variance_ * largest_curvature / 2.0);
    const Interval several = one_.mean_above(cut_) * (others_ * beyond_) + square(others_ * beyond_) / 2.0;
    return (single + several + none()).hi;
  }

 private:
  /// A bound of E((S - k)+; no summand beyond a) / T by Chernoff's bound, the moment by layers.
  [[nodiscard]] Interval none() const {
    constexpr std::size_t layers = 40;
    std::array<Interval, layers + 1> edge, chance;
    for (std::size_t j = 0; j <= layers; ++j) {
      edge[j] = cut_ * std::ldexp(1.0, -static_cast<int>(j));
      chance[j] = one_.above(edge[j]);
    }
    const Interval count = others_ + 1.0;
    const double usual = -std::log(std::clamp((count * chance[1]).hi, 1e-300, 0.9));
    Interval best = Interval::exactly(infinity);
    for (const double share : {0.5, 0.8, 1.0, 1.3}) {
      const Interval c = Interval::exactly(share * usual) / cut_;
      Interval moment = expm1(c * edge[layers]);
      for (std::size_t j = 0; j < layers; ++j) moment = moment + chance[j + 1] * exp(c * edge[j + 1]) * expm1(c * (edge[j] - edge[j + 1]));
      const Interval bound = exp(count * log1p(moment) - c * strike_ - 1.0) / (c * count);
      if (bound.hi < best.hi) best = bound;
    }
    return {0, best.hi};
  }

  Lognormal one_;
  Interval others_, strike_, cut_;
  Interval beyond_, alone_, rest_, variance_;
};

}  // namespace

Interval large_step_call(Interval mu, double steps, double strike) {
  constexpr double most_large_steps = 0.01;  // expected; with more of them the bounds are far apart
  Interval value{0, infinity};
  for (const double share : {1.0 / 2, 1.0 / 4, 1.0 / 8}) {
    const double cut = share * strike;
    if (!(cut > steps) || steps * Lognormal(mu.hi).above(Interval::exactly(cut)).hi > most_large_steps) break;
    // The value increases with mu.
    const LargeStep above(mu.hi, steps, strike, cut), below(mu.lo, steps, strike, cut);
    if (above.fits()) value.hi = std::min(value.hi, above.upper());
    if (below.fits()) value.lo = std::max(value.lo, below.lower());
  }
  return value;
}

}  // namespace tradeoff::detail::allocation
