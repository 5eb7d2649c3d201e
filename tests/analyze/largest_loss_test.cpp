// SPDX-License-Identifier: Apache-2.0
// [largest-loss]
#include <gtest/gtest.h>

#include <string>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

Interval pure_epsilon(const std::string& plan, Direction direction = Direction::worst) {
  return analyze(parse(plan)).epsilon_at(Interval::exactly(0), direction);
}

TEST(LargestLoss, PureGuaranteesAddUp) {
  EXPECT_THAT(pure_epsilon("laplace(scale=20) | repeat(50)"), AllOf(Encloses("2.5"), IsTight(1e-12)));
  EXPECT_THAT(pure_epsilon("discrete_laplace(scale=5.15) | repeat(1410)"),
              AllOf(Encloses("273.7864077669902912621359223"), IsTight(1e-10)));
  EXPECT_THAT(pure_epsilon("laplace(scale=2) | repeat(3); randomized_response(epsilon=0.5) | repeat(4)"),
              AllOf(Encloses("3.5"), IsTight(1e-12)));
}

TEST(LargestLoss, OfSampledLaplace) {
  EXPECT_THAT(pure_epsilon("laplace(scale=10) | poisson(rate=0.1) | repeat(30)"),
              AllOf(Encloses("0.3138651578061553593270030807"), IsTight(1e-12)));
  EXPECT_THAT(pure_epsilon("laplace(scale=10) | poisson(rate=0.1) | repeat(30)", Direction::add),
              AllOf(Encloses("0.2868548132666976027223325984"), IsTight(1e-12)));
  EXPECT_THAT(pure_epsilon("laplace(scale=10) | sample(rate=0.1) | repeat(30)"),
              AllOf(Encloses("0.3138651578061553593270030807"), IsTight(1e-12)));
}

// Each line is worse in another direction: the sum of the worse ones is a bound that is not attained.
TEST(LargestLoss, IsAddedByDirection) {
  const std::string plan = "pair(p=[0.5,0.5],q=[0.2,0.8]); pair(p=[0.2,0.8],q=[0.5,0.5])";
  const Interval found = analyze(parse(plan), Neighbours::add_remove).epsilon_at(Interval::exactly(0));
  EXPECT_THAT(found, AllOf(Encloses("1.386294361119890618834464243"), IsTight(1e-12)));
}

// Delta is 0 from the largest loss on and positive before it; unbounded losses have no pure guarantee.
TEST(LargestLoss, AgreesWithTheProfile) {
  for (const char* text :
       {"laplace(scale=20) | repeat(50)", "laplace(scale=10) | poisson(rate=0.1) | repeat(30)",
        "mixture([(0.3, laplace(scale=1)), (0.7, randomized_response(epsilon=0.5))]) | repeat(3)",
        "strongest([laplace(scale=1), dp(epsilon=0.9)]) | repeat(2)", "laplace(scale=1) | group(2)",
        "weakest([laplace(scale=1), dp(epsilon=1.5)])", "laplace(scale=2) | rectify(epsilon=2, low=0, high=1)",
        "pair(p=[0.1,0.9],q=[0.4,0.6]) | invert()", "pair(p=[0.1,0.6,0.3],q=[0.2,0.2,0.6]) | poisson(rate=0.3) | repeat(2)"}) {
    const Curve curve = analyze(parse(text), Neighbours::unstated);
    for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
      const Interval epsilon = curve.epsilon_at(Interval::exactly(0), direction);
      ASSERT_LT(epsilon.hi, 100) << text;
      EXPECT_EQ(curve.delta_at(Interval::exactly(epsilon.hi), direction).lo, 0) << text;
      EXPECT_TRUE(epsilon.lo == 0 || curve.delta_at(Interval::exactly(epsilon.lo * 0.98), direction).hi > 0) << text;
      EXPECT_EQ(curve.delta_at(Interval::exactly(epsilon.hi * 1.01 + 1e-6), direction), Interval::exactly(0)) << text;
    }
  }
  EXPECT_EQ(pure_epsilon("gaussian(sigma=10) | repeat(2)").lo, infinity);
  EXPECT_EQ(pure_epsilon("laplace(scale=1) | repeat(3); dp(epsilon=0, delta=1e-9)").lo, infinity);
}

// A part that reveals everything in one direction only leaves a finite largest loss in the other direction, which still adds up.
TEST(LargestLoss, WithAPartThatMayRevealEverything) {
  const std::string one = "pair(p=[0.1,0.9],q=[0,1]) | poisson(rate=0.5)";
  const Curve twice = analyze(parse("(" + one + ") | repeat(2)"));
  EXPECT_EQ(twice.epsilon_at(Interval::exactly(0)).lo, infinity);
  EXPECT_THAT(twice.epsilon_at(Interval::exactly(0), Direction::add), Encloses("0.1025865887751010668523922885"));
}

// Noise without bounds has no pure guarantee; added to a sample it has one in the other direction alone. The answer needs no search.
TEST(LargestLoss, OfUnboundedNoise) {
  const Interval none = Interval::exactly(infinity);
  for (const char* plan :
       {"gaussian(sigma=6.9) | poisson(rate=0.0003) | repeat(21039)", "discrete_gaussian(sigma=2) | sample(rate=0.03) | repeat(9)",
        "zcdp(rho=0.01) | repeat(7); gaussian(sigma=3) | sample(rate=0.1) | repeat(9)", "gdp(mu=1) | group(2); laplace(scale=1)",
        "zcdp(rho=0.01) | poisson(rate=0.01) | group(3) | repeat(4)"})
    EXPECT_EQ(pure_epsilon(plan), none) << plan;
  const std::string sampled = "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)";
  EXPECT_EQ(pure_epsilon(sampled, Direction::remove), none);
  EXPECT_THAT(pure_epsilon(sampled, Direction::add), AllOf(Encloses("10.05033585350144118354885755"), IsTight(1e-12)));
}

}  // namespace
}  // namespace tradeoff::detail
