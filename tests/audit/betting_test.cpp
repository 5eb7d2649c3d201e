// SPDX-License-Identifier: Apache-2.0
// Bets and confidence sequences of an audit: their laws, without samples. [betting-audit] [rate-sequence]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "audit/bet.h"
#include "audit/claim.h"
#include "audit/rate.h"
#include "tradeoff/analyze.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::audit {
namespace {

/// The expected factor of a pair if the event has these probabilities.
long double expected_factor(const Bet& bet, long double first, long double second) {
  return (first * bet.in_first + (1 - first) * bet.out_first) * (second * bet.in_second + (1 - second) * bet.out_second);
}

TEST(Bet, GainsNothingOnAverageWhereTheClaimHolds) {
  std::mt19937_64 words(7);
  std::uniform_real_distribution<double> unit(0, 1);
  int bets = 0;
  for (int i = 0; i < 3000; ++i) {
    const Line line = line_at(6 * unit(words) * unit(words), i % 3 == 0 ? 0 : 0.3 * unit(words));
    const Bet bet = make_bet(line, unit(words), std::pow(unit(words), 4));
    if (!(bet.growth > 0)) continue;
    ++bets;
    for (int k = 0; k < 40; ++k) {  // most points on the line itself, where the factor is largest
      const long double q = unit(words), most = std::min<long double>(1, q * line.slope + line.offset);
      EXPECT_LE(expected_factor(bet, k % 4 == 0 ? most * unit(words) : most, q), 1 + 1e-18L);
    }
  }
  EXPECT_GT(bets, 300);
}

TEST(Bet, GrowsWhereTheClaimIsExceeded) {
  const Line line = line_at(1, 1e-5);
  const Bet bet = make_bet(line, 0.6, 0.1);
  EXPECT_GT(bet.growth, 0.04);
  EXPECT_GT(expected_factor(bet, 0.6L, 0.1L), 1);
  EXPECT_EQ(make_bet(line, 0.2, 0.1).growth, 0);  // within the claim: no stake
}

TEST(Claim, LinesLieAboveTheCurve) {
  for (const char* plan :
       {"gaussian(sigma=1)", "dp(epsilon=1, delta=1e-5)", "laplace(scale=1)", "gaussian(sigma=1) | poisson(rate=0.1) | repeat(20)"}) {
    const Curve curve = analyze(parse(plan));
    const Claim claim = claim_of(curve, Direction::worst);
    EXPECT_GT(claim.lines[0].size(), 10U);
    for (const Line& line : claim.lines[0]) {
      EXPECT_GE(line.slope, std::exp(line.epsilon) * (1 - 1e-15));
      EXPECT_LE(line.slope, std::exp(line.epsilon) * (1 + 1e-7));
      EXPECT_GE(line.offset, curve.delta_at(line.epsilon).lo);
      EXPECT_EQ(coarse_above(line.slope), line.slope);
    }
  }
}

/// The probability that a sequence of n samples is ever excluded, by counting all paths.
double chance_of_exclusion(double p, Count earlier, std::uint64_t n, double error) {
  std::vector<double> alive = {1};
  double excluded = 0;
  for (std::uint64_t i = 1; i <= n; ++i) {
    std::vector<double> next(i + 1, 0.0);
    for (std::uint64_t k = 0; k < i; ++k) {
      next[k] += alive[k] * (1 - p);
      next[k + 1] += alive[k] * p;
    }
    for (std::uint64_t k = 0; k <= i; ++k) {
      if (rate_range(earlier, {i, k}, error).contains(p)) continue;
      excluded += next[k];
      next[k] = 0;
    }
    alive = next;
  }
  return excluded;
}

TEST(RateSequence, HoldsAtEveryNumberOfSamplesAtOnce) {
  for (const Count earlier : {Count{0, 0}, Count{20, 6}, Count{40, 39}})
    for (const double p : {0.001, 0.05, 0.3, 0.5, 0.97}) EXPECT_LE(chance_of_exclusion(p, earlier, 50, 0.05), 0.05) << p;
  EXPECT_GT(chance_of_exclusion(0.3, {20, 6}, 50, 0.05), 0.003);  // it is not empty talk
}

TEST(RateSequence, IsNarrow) {
  const Interval range = rate_range({30000, 9000}, {70000, 21000}, 1e-4);
  EXPECT_TRUE(range.contains(0.3));
  EXPECT_LT(range.width(), 2 * 5 * std::sqrt(0.21 / 70000));
  EXPECT_EQ(rate_range({100, 3}, {0, 0}, 0.01), (Interval{0, 1}));
  EXPECT_LT(rate_range({1000, 0}, {1000, 0}, 0.001).hi, 0.01);
  EXPECT_GT(rate_range({1000, 1000}, {1000, 1000}, 0.001).lo, 0.99);
  EXPECT_EQ(rate_range({1000, 0}, {1000, 0}, 0.001).lo, 0);
}

}  // namespace
}  // namespace tradeoff::detail::audit
