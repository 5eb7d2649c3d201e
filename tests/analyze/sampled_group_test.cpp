// SPDX-License-Identifier: Apache-2.0
#include "operators/sampled_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/gaussian_mixture.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// [sampled-group]
namespace tradeoff {
namespace {

using detail::test::Encloses;
using detail::test::IsTight;

Interval at(double x) { return Interval::exactly(x); }
bool meet(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }
Curve curve_of(const std::string& plan, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(plan), neighbours); }

// The table of the note, section 7: epsilon at 1e-5 of users with K examples is the directed answer of the group.
TEST(SampledGroup, HoldsTheExactColumn) {
  const Curve four = curve_of("gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000) | group(4)");
  EXPECT_NEAR(four.epsilon_at(at(1e-5), Direction::remove).hi, 8.8992, 1e-4);
  EXPECT_NEAR(four.epsilon_at(at(1e-5), Direction::add).hi, 6.6072, 1e-4);
  const Curve two = curve_of("gaussian(sigma=1) | poisson(rate=0.01) | group(2) | repeat(1000)");
  EXPECT_NEAR(two.epsilon_at(at(1e-5), Direction::remove).hi, 3.9791, 1e-4);
  EXPECT_NEAR(two.epsilon_at(at(1e-5), Direction::add).hi, 3.0306, 1e-4);
}

// The example of the issue on wide answers.
TEST(SampledGroup, IsTight) {
  const Curve curve = curve_of("gaussian(sigma=1) | poisson(rate=0.01) | group(4) | repeat(1000)");
  const Interval epsilon = curve.epsilon_at(at(1e-6));
  EXPECT_THAT(epsilon, IsTight(1e-9));
  EXPECT_THAT(curve.delta_at(at(6)), IsTight(1e-9));
  EXPECT_THAT(curve.beta_at(at(0.01)), IsTight(1e-6));
}

// Group before or after the repetition, and one kind of change by the user-level pair.
TEST(SampledGroup, MeansTheSameBeforeAndAfterTheSteps) {
  const Curve before = curve_of("gaussian(sigma=2) | poisson(rate=0.05) | group(3) | repeat(50)");
  const Curve after = curve_of("gaussian(sigma=2) | poisson(rate=0.05) | repeat(50) | group(3)");
  const Curve user = curve_of("gaussian(sigma=2) | poisson(rate=0.05, examples=3) | repeat(50)");
  for (const double epsilon : {0.5, 2.0})
    for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
      EXPECT_TRUE(meet(before.delta_at(at(epsilon), direction), after.delta_at(at(epsilon), direction)));
      if (direction == Direction::worst)
        EXPECT_LE(user.delta_at(at(epsilon)).lo, before.delta_at(at(epsilon)).hi);
      else
        EXPECT_TRUE(meet(before.delta_at(at(epsilon), direction), user.delta_at(at(epsilon), direction)));
    }
}

// Without a direction every mix of additions and removals counts.
TEST(SampledGroup, TakesTheWorstMix) {
  const double mu = 0.5, rate = 0.25;
  const Curve group = curve_of("gaussian(sigma=2) | poisson(rate=0.25) | group(3)");
  for (const double epsilon : {0.0, 0.5, 1.5}) {
    Interval worst = at(0);
    for (const auto& [ahead, behind] : {std::pair{3, 0}, std::pair{2, 1}}) {
      const auto loss =
          detail::gaussian_mixture(at(mu), at(rate), static_cast<std::uint64_t>(ahead), static_cast<std::uint64_t>(behind), {});
      worst = max(worst, max(loss->delta(Direction::remove, at(epsilon)), loss->delta(Direction::add, at(epsilon))));
    }
    EXPECT_TRUE(meet(group.delta_at(at(epsilon)), worst)) << epsilon;
  }
  EXPECT_EQ(detail::leaving_records(Neighbours::add_remove, 5), (std::vector<std::uint64_t>{5, 4, 3}));
  EXPECT_EQ(detail::leaving_records(Neighbours::add_remove, 4), (std::vector<std::uint64_t>{4, 3, 2}));
  EXPECT_EQ(detail::leaving_records(Neighbours::replace_one, 4), (std::vector<std::uint64_t>{4}));
}

// The pair of each mix, and nothing for what is only a curve, for other noise, or without a sample.
TEST(SampledGroup, HasThePairOfEachMix) {
  const auto line = [](detail::GaussianOf of) { return detail::Parts{{detail::subsampled_gaussian(at(0.5), at(0.25), of), 7}}; };
  const detail::Parts noise = line(detail::GaussianOf::noise);
  for (const std::uint64_t leaving : {3, 2}) {
    const auto found = detail::sampled_group(noise, Neighbours::add_remove, 3, leaving);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->front().times, 7U);
    const auto pair = detail::gaussian_mixture(at(0.5), at(0.25), leaving, 3 - leaving, {});
    for (const Direction direction : {Direction::remove, Direction::add})
      EXPECT_EQ(found->front().loss->delta(direction, at(0.25)), pair->delta(direction, at(0.25))) << leaving;
  }
  EXPECT_FALSE(detail::sampled_group(line(detail::GaussianOf::curve), Neighbours::add_remove, 3, 3).has_value());
  EXPECT_FALSE(detail::sampled_group(noise, Neighbours::add_remove, 17, 17).has_value());
  EXPECT_FALSE(detail::sampled_group(noise, Neighbours::replace_one, 3, 3).has_value());
  EXPECT_FALSE(
      detail::sampled_group({{detail::gaussian_loss(at(1), {}, detail::GaussianOf::noise), 1}}, Neighbours::add_remove, 3, 3).has_value());
}

// The exact value lies below the iterated curve, which is the worst over all mechanisms with the curve of one record.
TEST(SampledGroup, LiesBelowTheIteration) {
  const Interval exact = curve_of("gaussian(sigma=1) | poisson(rate=0.1) | group(2)").delta_at(at(1));
  const Interval iterated = curve_of("gdp(mu=1) | poisson(rate=0.1) | group(2)").delta_at(at(1));
  EXPECT_LT(exact.hi, iterated.lo);
}

// Lines without sampling, several lines, parentheses and lines that tell nothing.
TEST(SampledGroup, CoversWholePlans) {
  const std::string lines = "gaussian(sigma=2) | poisson(rate=0.1) | repeat(20); gaussian(sigma=4)";
  const Interval inside = curve_of("(" + lines + ") | group(3)").delta_at(at(1));
  const Interval each =
      curve_of("gaussian(sigma=2) | poisson(rate=0.1) | repeat(20) | group(3); gaussian(sigma=4) | group(3)").delta_at(at(1));
  const Interval nothing = curve_of("((" + lines + ") | group(3)); dp(epsilon=0)").delta_at(at(1));
  EXPECT_TRUE(meet(inside, each));
  EXPECT_TRUE(meet(inside, nothing));
  EXPECT_THAT(inside, IsTight(1e-6));
  EXPECT_THAT(each, IsTight(1e-6));
}

TEST(SampledGroup, GoesThroughOtherOperators) {
  const Curve group = curve_of("gaussian(sigma=2) | poisson(rate=0.1) | group(2)");
  const Curve turned = curve_of("gaussian(sigma=2) | poisson(rate=0.1) | group(2) | invert()");
  const Curve refined = curve_of("gaussian(sigma=2) | poisson(rate=0.1) | group(2) | refine()");
  EXPECT_TRUE(meet(turned.delta_at(at(0.5), Direction::add), group.delta_at(at(0.5), Direction::remove)));
  EXPECT_TRUE(meet(turned.delta_at(at(0.5), Direction::remove), group.delta_at(at(0.5), Direction::add)));
  EXPECT_TRUE(meet(refined.delta_at(at(0.5)), group.delta_at(at(0.5))));
}

TEST(SampledGroup, UnderReplaceOneWithAClipNorm) {
  const Curve group = curve_of("gaussian(sigma=2, clip=1) | poisson(rate=0.1) | repeat(30) | group(3)", Neighbours::replace_one);
  const Curve user = curve_of("gaussian(sigma=2, clip=1) | poisson(rate=0.1, examples=3) | repeat(30)", Neighbours::replace_one);
  EXPECT_TRUE(meet(group.delta_at(at(2)), user.delta_at(at(2))));
  EXPECT_THAT(group.delta_at(at(2)), IsTight(1e-9));
}

TEST(SampledGroup, NamesItsTheorem) {
  const auto details = [](const std::string& plan) {
    const Curve curve = curve_of(plan);
    std::string text;
    for (const Step& step : explained([&] { return curve.delta_at(at(1)); }).steps) text += step.theorem + ": " + step.detail + "\n";
    return text;
  };
  EXPECT_THAT(details("gaussian(sigma=1) | poisson(rate=0.1) | group(2) | repeat(10)"), testing::HasSubstr("sampled-group"));
  EXPECT_THAT(details("laplace(scale=1) | poisson(rate=0.1) | group(2)"), testing::HasSubstr("worst over all mechanisms with that curve"));
}

}  // namespace
}  // namespace tradeoff
