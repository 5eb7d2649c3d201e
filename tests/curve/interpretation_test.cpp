// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numeric/normal.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/operations.h"

// [naming-chance] [odds-factor]
namespace tradeoff {
namespace {

using test::Encloses;
using test::IsTight;

Curve curve(const std::string& plan, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(plan), neighbours); }

TEST(NamingChance, IsTheRateAtOneInN) {
  const Curve gaussian = curve("gdp(mu=1)");
  for (const std::uint64_t people : {2U, 10U, 1000U})
    EXPECT_THAT(naming_chance(gaussian, people),
                Encloses(normal_cdf(Interval::exactly(1) + normal_quantile(1.0 / static_cast<double>(people)))));
  EXPECT_THAT(naming_chance(gaussian, 1000), IsTight(1e-9));
  EXPECT_THROW((void)naming_chance(gaussian, 1), DomainError);
}

TEST(NamingChance, UnderReplaceOneTwoPeopleAreACoinToss) {
  // Two neighbouring worlds, equally likely: the best guess is right with probability (1 + advantage)/2.
  const Curve gaussian = curve("gdp(mu=1)", Neighbours::replace_one);
  EXPECT_THAT(naming_chance(gaussian, 2), Encloses(normal_cdf(0.5)));
  EXPECT_THAT(naming_chance(gaussian, 2), IsTight(1e-6));
  const Curve pure = curve("dp(epsilon=1)", Neighbours::replace_one);
  // k-ary randomised response attains e^eps/(e^eps + n - 1).
  for (const std::uint64_t people : {2U, 3U, 5U, 50U}) {
    const double best = std::exp(1) / (std::exp(1) + static_cast<double>(people) - 1);
    EXPECT_THAT(naming_chance(pure, people), Encloses(Interval{best - 1e-12, best + 1e-12})) << people;
  }
}

TEST(NamingChance, NoAttackOnRandomMechanismsDoesBetter) {
  // n worlds with one record each and one without; the mechanism's curve is taken from its own pairs.
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> weight(1, 9);
  for (int trial = 0; trial < 20; ++trial) {
    const std::size_t worlds = 4, outcomes = 5;
    std::vector<std::vector<int>> w(worlds, std::vector<int>(outcomes));
    std::vector<int> totals(worlds, 0);
    for (std::size_t i = 0; i < worlds; ++i)
      for (int& x : w[i]) totals[i] += x = weight(random);
    const auto text = [&](std::size_t i) {
      std::string list;
      for (const int x : w[i]) list += (list.empty() ? "" : ",") + std::to_string(x) + "/" + std::to_string(totals[i]);
      return "[" + list + "]";
    };
    double best = 0;
    for (std::size_t o = 0; o < outcomes; ++o) {
      double largest = 0;
      for (std::size_t i = 1; i < worlds; ++i) largest = std::max(largest, static_cast<double>(w[i][o]) / totals[i]);
      best += largest / 3;
    }
    std::vector<Curve> pairs;
    for (std::size_t i = 1; i < worlds; ++i) pairs.push_back(curve("pair(p=" + text(i) + ", q=" + text(0) + ")"));
    EXPECT_GE(naming_chance(weakest(pairs), 3).hi, best - 1e-12);
  }
}

TEST(OddsFactor, Gaussian) {
  // L is N(mu^2/2, mu^2): the quantile is known.
  const Interval found = odds_factor(curve("gdp(mu=1)"), Interval::exactly(1e-5));
  EXPECT_THAT(found, Encloses(std::exp(0.5 + 4.26489079392282461)));
  EXPECT_THAT(found, IsTight(1e-9));
}

TEST(OddsFactor, BoundsTheLawOfTheLoss) {
  // Exact laws by brute force: the factor is exceeded with at most the stated chance, and no smaller one at most its lower end is.
  for (const char* plan : {"dp(epsilon=0.3) | repeat(20)", "randomized_response(1, 3) | repeat(3)", "dp(epsilon=0.5, delta=0.001)"}) {
    for (const double chance : {0.2, 0.05, 0.01}) {
      const Interval found = odds_factor(curve(plan), Interval::exactly(chance));
      EXPECT_LE(found.lo, found.hi);
      EXPECT_LE(curve(plan).delta_at(std::log(found.hi) + 1e-9).lo, chance);
    }
  }
  // Twenty fair steps of 0.3: L = 0.3 (2B - 20), B ~ Bin(20, e^0.3/(1 + e^0.3)).
  const double q = std::exp(0.3) / (1 + std::exp(0.3));
  double tail = 0, threshold = 0;
  for (int b = 20; b >= 0; --b) {
    const double mass = std::exp(std::lgamma(21) - std::lgamma(b + 1) - std::lgamma(21 - b) + b * std::log(q) + (20 - b) * std::log1p(-q));
    if (tail + mass > 0.05) {
      threshold = 0.3 * (2 * b - 20);
      break;
    }
    tail += mass;
  }
  EXPECT_THAT(odds_factor(curve("dp(epsilon=0.3) | repeat(20)"), Interval::exactly(0.05)), Encloses(std::exp(threshold)));
  EXPECT_EQ(odds_factor(curve("dp(epsilon=1, delta=0.1)"), Interval::exactly(0.01)).lo, std::numeric_limits<double>::infinity());
  EXPECT_THROW((void)odds_factor(curve("gdp(mu=1)"), Interval::exactly(0)), DomainError);
}

}  // namespace
}  // namespace tradeoff
