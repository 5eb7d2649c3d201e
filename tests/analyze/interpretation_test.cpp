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
namespace tradeoff::detail {
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
  // Two equally likely data sets: the best guess is right with probability (1 + advantage)/2.
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
  // n data sets with one record each and one without; the curve of the mechanism is computed from its own pairs.
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

TEST(OddsFactor, IsTheSupremumOverAllThatTheCurveCovers) {
  // p/f(1 - p) in 30 digits. The quantile of the loss of the pair itself would be e and 117.3.
  struct Row {
    const char* plan;
    const char* chance;
    const char* truth;
  };
  for (const Row& row :
       {Row{"dp(epsilon=1, delta=1e-5)", "2e-5", "5.43656365691809047072057494271"},
        Row{"gdp(mu=1)", "1e-5", "142.579403944703227299389537520"}, Row{"gdp(mu=1)", "1e-25", "60512.588438890409294700644"},
        Row{"gdp(mu=1)", "0.9", "1.473341582448708328517772"}, Row{"gaussian(sigma=1) | repeat(2)", "0.01", "108.926732099823954977596951"},
        Row{"laplace(scale=1)", "1e-5", "2.718281828459045235360287"}}) {
    const Interval found = odds_factor(curve(row.plan), read_number(row.chance).value);
    EXPECT_THAT(found, Encloses(row.truth)) << row.plan;
    EXPECT_LE(found.width(), 1e-9 * found.lo) << row.plan;
  }
  // Everything may be revealed with this probability.
  EXPECT_EQ(odds_factor(curve("dp(epsilon=1, delta=0.1)"), Interval::exactly(0.01)).lo, std::numeric_limits<double>::infinity());
  EXPECT_THROW((void)odds_factor(curve("gdp(mu=1)"), Interval::exactly(0)), DomainError);
  EXPECT_THROW((void)odds_factor(curve("gdp(mu=1)"), Interval::exactly(1)), DomainError);
}

TEST(OddsFactor, CoversMechanismsThatAreMorePrivateThanThePair) {
  // Each pair is certainly covered by the plan, and exceeds the quantile of the plan's own loss with a probability above p.
  struct Row {
    const char* plan;
    const char* chance;
    const char* covered;
    double factor;
  };
  for (const Row& row :
       {Row{"dp(epsilon=1, delta=1e-5)", "2e-5", "pair(p=[0.00002001, 0.99997999], q=[0.0000036826, 0.9999963174])", 5.4336},
        Row{"gdp(mu=1)", "1e-5", "pair(p=[0.0000100035, 0.9999899965], q=[0.0000000702, 0.9999999298])", 142.49}}) {
    ASSERT_EQ(at_least_as_private(curve(row.covered), curve(row.plan)).verdict, Order::yes) << row.covered;
    const Interval chance = read_number(row.chance).value;
    EXPECT_GT(odds_factor(curve(row.covered), chance).lo, row.factor);
    EXPECT_GE(odds_factor(curve(row.plan), chance).hi, odds_factor(curve(row.covered), chance).hi);
  }
  // Two steps; the second one is skipped once the odds are high enough.
  EXPECT_GE(odds_factor(curve("gaussian(sigma=1) | repeat(2)"), read_number("0.01").value).hi, 73.0318776641022);
}

}  // namespace
}  // namespace tradeoff::detail
