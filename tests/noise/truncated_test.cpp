// SPDX-License-Identifier: Apache-2.0
// The least bound of truncated noise by brute force; flooring a continuous bound would be unsound. [truncation-bound]
#include "noise/truncated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "mechanism/discrete_laplace.h"
#include "noise/replay.h"
#include "noise/statistics.h"

namespace tradeoff::detail::test {
namespace {

/// delta at epsilon by summing over all outputs, in long double.
long double delta_by_sum(double scale, std::int64_t bound, std::int64_t shift, long double epsilon) {
  const auto weight = [&](std::int64_t k) { return std::abs(k) > bound ? 0.0L : std::exp(-static_cast<long double>(std::abs(k)) / scale); };
  long double total = 0, delta = 0;
  for (std::int64_t k = -bound; k <= bound; ++k) total += weight(k);
  for (std::int64_t k = -bound; k <= bound + shift; ++k) delta += std::max(0.0L, weight(k) - std::exp(epsilon) * weight(k - shift)) / total;
  return delta;
}

TEST(TruncationBound, IsTheLeastThatMeetsDelta) {
  ReplayForTests random(2);
  for (int i = 0; i < 200; ++i) {
    const auto shift = static_cast<std::int64_t>(1 + random.next() % 4);
    const double epsilon = 0.1 + static_cast<double>(random.next() % 3000) * 1e-3;
    const double scale = static_cast<double>(shift) / epsilon;
    const double delta = std::pow(10, -1 - static_cast<double>(random.next() % 9000) * 1e-3);
    const auto bound = static_cast<std::int64_t>(
        noise::least_truncation_bound(Interval::exactly(scale), static_cast<std::uint64_t>(shift), Interval::exactly(delta)));
    const long double at = static_cast<long double>(shift) / scale;
    EXPECT_LE(delta_by_sum(scale, bound, shift, at), delta * (1 + 1e-12L));
    if (bound > shift) {
      EXPECT_GT(delta_by_sum(scale, bound - 1, shift, at), delta * (1 - 1e-12L));
    }
    const LossPointer loss =
        truncated_discrete_laplace(Interval::exactly(scale), static_cast<std::uint64_t>(bound), static_cast<std::uint64_t>(shift));
    EXPECT_LE(loss->delta(Direction::remove, Interval::exactly(static_cast<double>(at))).lo, delta);
  }
}

TEST(TruncationBound, OfTheContinuousFormulaFlooredIsTooSmall) {
  const double epsilon = 1, delta = 1e-6;
  const auto floored = static_cast<std::int64_t>(std::floor(std::log(1 + std::expm1(epsilon) / (2 * delta)) / epsilon));
  EXPECT_GT(delta_by_sum(1, floored, 1, epsilon), delta);
  EXPECT_EQ(noise::least_truncation_bound(Interval::exactly(1), 1, Interval::exactly(delta)), static_cast<std::uint64_t>(floored + 1));
}

TEST(Truncated, StaysWithinItsBound) {
  ReplayForTests words(3);
  std::vector<std::int64_t> values(10'000);
  noise::Truncated(noise::GridNoise(noise::Law::discrete_laplace, noise::Dyadic::at_least(3)), 4).draw(words, values);
  for (const std::int64_t value : values) ASSERT_LE(std::abs(value), 4);
  EXPECT_NE(std::count(values.begin(), values.end(), 4), 0);
  EXPECT_NE(std::count(values.begin(), values.end(), -4), 0);
}

// [laplace-samplers] A bound far below the scale: few draws of the whole distribution would fall inside.
TEST(Truncated, HasItsLawWhereTheBoundIsNarrow) {
  using noise::Law;
  ReplayForTests words(4);
  std::vector<std::int64_t> values(200'000);
  const auto check = [&](Law law, double scale, std::uint64_t bound, const Tail& whole) {
    noise::Truncated(noise::GridNoise(law, noise::Dyadic::at_least(scale)), bound).draw(words, values);
    EXPECT_GE(examine(values, truncated_tail(whole, bound)).smallest(), threshold) << scale << " " << bound;
  };
  for (const auto& [scale, bound] :
       std::vector<std::pair<double, std::uint64_t>>{{1.5, 1}, {10, 9}, {40, 7}, {1e4, 3}, {1e12, 1}, {1e12, 20}}) {
    check(Law::discrete_laplace, scale, bound, discrete_laplace_tail(scale));
    check(Law::rounded_laplace, scale, bound, rounded_laplace_tail(scale));
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
