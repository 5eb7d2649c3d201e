// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"

// [berry-esseen]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

std::string text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

const BerryEsseen& sampled(const nlohmann::json& inputs) {
  static std::map<std::string, BerryEsseen> known;
  const std::string plan =
      "gdp(mu=" + text(inputs.at("mu")) + ") | sample(rate=" + text(inputs.at("p")) + ") | repeat(" + text(inputs.at("T")) + ")";
  const auto place = known.find(plan);
  if (place != known.end()) return place->second;
  return known.emplace(plan, berry_esseen(parse(plan))).first->second;
}

TEST(BerryEsseen, Corollary5) {
  for (const auto& one : golden_group("f_dp.json", "be_cor5")) {
    const BerryEsseen& found = sampled(one.at("inputs"));
    EXPECT_THAT(found.mu(), Encloses(text(one.at("value").at("mu_tilde"))));
    EXPECT_THAT(found.gamma(), Encloses(text(one.at("value").at("gamma"))));
    EXPECT_THAT(found.mu(), IsTight(1e-4));
    EXPECT_THAT(found.gamma(), IsTight(1e-4));
  }
}

TEST(BerryEsseen, TradeOffFunction) {
  for (const auto& one : golden_group("f_dp.json", "be_f")) {
    const Interval found = sampled(one.at("inputs")).beta_at(golden_interval(one.at("inputs").at("alpha")));
    EXPECT_THAT(found, Encloses(text(one.at("value")))) << one.at("id");
    EXPECT_LT(found.width(), 1e-4);
  }
}

TEST(BerryEsseen, ClosedDualAndFloor) {
  for (const auto& one : golden_group("f_dp.json", "be_delta")) {
    const BerryEsseen& bound = sampled(one.at("inputs"));
    const Interval found = bound.delta_at(golden_interval(one.at("inputs").at("eps")));
    EXPECT_THAT(found, Encloses(text(one.at("value")))) << one.at("id");
    EXPECT_LT(found.width(), 1e-4);
    EXPECT_GE(found.hi, bound.floor().lo);
  }
}

TEST(BerryEsseen, PureDp) {
  for (const auto& one : golden_group("f_dp.json", "be_eps0")) {
    const BerryEsseen found =
        berry_esseen(parse("dp(epsilon=" + text(one.at("inputs").at("eps")) + ") | repeat(" + text(one.at("inputs").at("n")) + ")"));
    EXPECT_THAT(found.mu(), Encloses(text(one.at("value").at("mu"))));
    EXPECT_THAT(found.gamma(), Encloses(text(one.at("value").at("gamma"))));
    EXPECT_THAT(found.gamma(), IsTight(1e-10));
  }
}

TEST(BerryEsseen, TheDualIsTheConjugateOfTheCurve) {
  const BerryEsseen bound(Interval::exactly(0.8), Interval::exactly(0.03));
  for (const double epsilon : {0.0, 0.3, 1.0, 1.6, 3.0, 20.0}) {
    double largest = 0;
    for (int i = 0; i <= 4000; ++i) {
      const double alpha = i / 4000.0;
      largest = std::max(largest, 1 - bound.beta_at(Interval::exactly(alpha)).hi - std::exp(epsilon) * alpha);
    }
    const Interval delta = bound.delta_at(Interval::exactly(epsilon));
    EXPECT_GE(delta.hi, largest);
    EXPECT_LE(delta.lo, largest + 1e-3);
  }
}

TEST(BerryEsseen, IsAGuaranteeForTheStepsThatAreRun) {
  // The bound holds against exact composition at every tested epsilon and alpha; the plain limit does not.
  for (const char* plan : {"dp(epsilon=0.05) | repeat(400)", "dp(epsilon=0.1) | repeat(100); dp(epsilon=0.05) | repeat(200)",
                           "laplace(scale=30) | repeat(500)", "randomized_response(0.2, 3) | repeat(300)"}) {
    const BerryEsseen bound = berry_esseen(parse(plan));
    const Curve exact = analyze(parse(plan));
    ASSERT_TRUE(bound.certifies()) << plan;
    for (const double epsilon : {0.0, 0.5, 2.0}) EXPECT_GE(bound.delta_at(Interval::exactly(epsilon)).hi, exact.delta_at(epsilon).lo);
    const Interval epsilon = bound.epsilon_at(Interval::exactly(bound.floor().hi + 0.01));
    EXPECT_GE(epsilon.hi, exact.epsilon_at(bound.floor().hi + 0.01).lo);
  }
  const BerryEsseen bound = berry_esseen(parse("dp(epsilon=0.05) | repeat(400)"));
  const Curve exact = analyze(parse("dp(epsilon=0.05) | repeat(400)"));
  for (const double alpha : {0.01, 0.2, 0.6}) EXPECT_LE(bound.beta_at(Interval::exactly(alpha)).lo, exact.beta_at(alpha).hi);
}

TEST(BerryEsseen, TheFloorAndWhereItGivesNoBound) {
  const BerryEsseen bound = berry_esseen(parse("gdp(mu=1) | sample(rate=0.01) | repeat(1000)"));
  EXPECT_NEAR(bound.floor().hi, 0.2953, 1e-4);
  EXPECT_EQ(bound.epsilon_at(Interval::exactly(1e-5)).lo, std::numeric_limits<double>::infinity());
  const BerryEsseen nothing = berry_esseen(parse("dp(epsilon=3)"));
  EXPECT_FALSE(nothing.certifies());
  EXPECT_EQ(nothing.delta_at(Interval::exactly(5)).hi, 1);
  EXPECT_THROW((void)berry_esseen(parse("log_family(c=1, sigma=1)")), UnsupportedError);
}

TEST(BerryEsseen, SplitsOffWhatRevealsEverything) {
  // [revealing-composition] The probability of revealing everything is exact, and the theorem covers the rest.
  const BerryEsseen pure = berry_esseen(parse("dp(epsilon=0.05) | repeat(400)"));
  const BerryEsseen mixed = berry_esseen(parse("dp(epsilon=0.05, delta=1e-4) | repeat(400)"));
  EXPECT_NEAR(mixed.revealed().hi, -std::expm1(400 * std::log1p(-1e-4)), 1e-14);
  EXPECT_NEAR(mixed.mu().hi, pure.mu().hi, 1e-9);
  EXPECT_NEAR(mixed.gamma().hi, pure.gamma().hi, 1e-9);
  EXPECT_NEAR(mixed.floor().hi, 1 - (1 - mixed.revealed().hi) * (1 - pure.floor().hi), 1e-9);
  for (const char* plan :
       {"dp(epsilon=0.05, delta=1e-4) | repeat(400)", "truncated_laplace(scale=20, bound=100) | repeat(300)",
        "truncated_laplace(scale=1, bound=0.8) | repeat(2)", "dp(epsilon=0, delta=0.01) | repeat(3)",
        "constraints([(0.2, 0), (0.05, 0.001)]) | repeat(300)", "pair(p=[0.2, 0.5, 0.3], q=[0.1, 0.5, 0.4])|repeat(90)"}) {
    const BerryEsseen bound = berry_esseen(parse(plan));
    const Curve exact = analyze(parse(plan));
    for (const double epsilon : {-1.0, 0.0, 0.5, 2.0, 30.0})
      EXPECT_GE(bound.delta_at(Interval::exactly(epsilon)).hi, exact.delta_at(epsilon).lo) << plan;
    for (const double alpha : {0.0, 0.01, 0.2, 0.6, 0.99})
      EXPECT_LE(bound.beta_at(Interval::exactly(alpha)).lo, exact.beta_at(alpha).hi) << plan << " " << alpha;
  }
  EXPECT_TRUE(berry_esseen(parse("truncated_laplace(scale=20, bound=100) | repeat(300)")).certifies());
}

}  // namespace
}  // namespace tradeoff::detail
