// SPDX-License-Identifier: Apache-2.0
#include "train/audit_bounds.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/root.h"

namespace tradeoff::detail::train {
namespace {

// [step-audit]

/// The relative entropy of coins with probabilities a and b, 0 < b < 1.
Interval relative_entropy(Interval a, Interval b) {
  const Interval first = a.lo > 0 ? a * log(a / b) : Interval::exactly(0),
                 second = a.hi < 1 ? (1 - a) * log((1 - a) / (1 - b)) : Interval::exactly(0);
  return first + second;
}

double needed(double chance) { return (-log(Interval::exactly(chance))).hi; }

/// Whether a share `a` of successes, or one further from p, has at most this probability if each trial succeeds with probability p.
bool excludes(double a, double p, double trials, double entropy) {
  return (relative_entropy(Interval::exactly(a), Interval::exactly(p)) * trials).lo >= entropy;
}

/// The last point between `bad` and `good` at which the test still succeeds, from the side of `good`.
template <class Test>
double last_yes(double good, double bad, const Test& test) {
  return numeric::bisect([&](double x) { return !test(x); }, {good, bad}, 200, 1e-13).before;
}

/// P(|distance + Z| <= reach): decreases with the distance, increases with the reach.
Interval inside(double distance, double reach) {
  const Interval from = Interval::exactly(-reach) - distance, to = Interval::exactly(reach) - distance;
  return normal_cdf(to) - normal_cdf(from);
}

}  // namespace

double success_rate_below(std::uint64_t right, std::uint64_t trials, double chance) {
  if (right == 0) return 0;
  const Interval found = Interval::exactly(static_cast<double>(right)) / static_cast<double>(trials);
  const double entropy = needed(chance);
  const auto excluded = [&](double p) {
    return (relative_entropy(found, Interval::exactly(p)) * static_cast<double>(trials)).lo >= entropy;
  };
  constexpr double least = 0x1p-60;
  return excluded(least) ? last_yes(least, found.lo, excluded) : 0;
}

Range count_range(std::uint64_t trials, Interval probability, double chance) {
  const double count = static_cast<double>(trials), entropy = needed(chance);
  const double low = std::max(probability.lo, 0x1p-60), high = std::min(probability.hi, 1 - 0x1p-53);
  const double below = excludes(0, low, count, entropy) ? last_yes(0, low, [&](double a) { return excludes(a, low, count, entropy); }) : -1;
  const double above =
      excludes(1, high, count, entropy) ? last_yes(1, high, [&](double a) { return excludes(a, high, count, entropy); }) : 2;
  constexpr double rounding = 1e-3;  // rounding of the two products; a whole number exactly at the edge is not reported
  return {std::max(0.0, std::floor(below * count - rounding) + 1), std::min(count, std::ceil(above * count + rounding) - 1)};
}

Range norm_range(double freedom, double chance) {
  const Interval x = Interval::exactly(needed(chance)), n = Interval::exactly(freedom), middle = 2 * sqrt(n * x);
  const Interval below = n - middle, above = n + middle + 2 * x;
  return {below.lo > 0 ? sqrt(below).lo : 0, sqrt(above).hi};
}

Interval spread_chance(std::uint64_t m, bool independent, Interval size, Interval reach) {
  // The binomial distribution by its recurrence; the hypergeometric one is its square, scaled to sum 1.
  std::vector<Interval> weights;
  Interval weight = Interval::exactly(std::ldexp(1.0, -static_cast<int>(m))), total = Interval::exactly(0), sum = total;
  for (std::uint64_t k = 0; k <= m; ++k) {
    weights.push_back(independent ? weight : weight * weight);
    total = total + weights.back();
    weight = weight * static_cast<double>(m - k) / static_cast<double>(k + 1);
  }
  for (std::uint64_t k = 0; k <= m; ++k) {
    const Interval distance = size * std::abs(static_cast<double>(k) - static_cast<double>(m) / 2);
    sum = sum + weights[k] * Interval{inside(distance.hi, reach.lo).lo, inside(distance.lo, reach.hi).hi};
  }
  return sum / total;
}

}  // namespace tradeoff::detail::train
