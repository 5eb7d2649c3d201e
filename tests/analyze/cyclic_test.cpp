// SPDX-License-Identifier: Apache-2.0
// [cyclic-poisson]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using test::IsTight;
using testing::HasSubstr;

constexpr auto add_remove = Neighbours::add_remove, zero_out = Neighbours::zero_out, replace_one = Neighbours::replace_one;

/// Both plans answer the same, in every direction.
void expect_equal(const std::string& one, const std::string& other, Neighbours neighbours, double width = 1e-6) {
  const Curve a = analyze(parse(one), neighbours), b = analyze(parse(other), neighbours);
  for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
    if (direction != Direction::worst && neighbours == replace_one) continue;
    for (const double epsilon : {0.25, 1.0}) {
      const Interval x = a.delta_at(epsilon, direction), y = b.delta_at(epsilon, direction);
      EXPECT_LE(std::max(x.lo, y.lo), std::min(x.hi, y.hi)) << one << " and " << other << " at " << epsilon;
      EXPECT_THAT(x, IsTight(width)) << one;
    }
  }
}

std::string refusal(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)analyze(parse(plan), neighbours);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Cyclic, OneGroupIsPoissonSampling) {
  for (const Neighbours neighbours : {add_remove, zero_out})
    expect_equal("gaussian(1) | cyclic(groups=1, rate=0.05, steps=20)", "gaussian(1) | poisson(0.05) | repeat(20)", neighbours);
}

TEST(Cyclic, ARecordSeesTheStepsOfItsGroup) {
  expect_equal("gaussian(1) | cyclic(groups=4, rate=0.1, steps=21)", "gaussian(1) | poisson(0.1) | repeat(6)", add_remove);
  expect_equal("gaussian(1) | cyclic(groups=4, rate=0.1, steps=20)", "gaussian(1) | poisson(0.1) | repeat(5)", add_remove);
  expect_equal("gaussian(1) | cyclic(groups=40, rate=0.1, steps=20)", "gaussian(1) | poisson(0.1)", add_remove);
  expect_equal("gaussian(1) | cyclic(groups=4, rate=1, steps=20)", "gaussian(1) | repeat(5)", add_remove);
  expect_equal("gaussian(1) | cyclic(groups=4, rate=0.1, steps=20) | repeat(2)", "gaussian(1) | poisson(0.1) | repeat(10)", add_remove);
}

TEST(Cyclic, ABandedMatrixIsOneStepPerBlock) {
  // |(1, 3/4)| = 5/4; eight steps of two groups are four blocks of two rows.
  for (const Neighbours neighbours : {add_remove, zero_out})
    expect_equal("matrix(sigma=5/4, coefficients=[1, 0.75], steps=8) | cyclic(groups=2, rate=0.1, steps=8)",
                 "gaussian(1) | poisson(0.1) | repeat(4)", neighbours);
  // The last block of seven steps has one row only.
  expect_equal("matrix(sigma=5/4, coefficients=[1, 0.75], steps=7) | cyclic(groups=2, rate=0.1, steps=7)",
               "gaussian(1) | poisson(0.1) | repeat(3); gaussian(1.25) | poisson(0.1)", zero_out);
  expect_equal("matrix(sigma=1, coefficients=[1], steps=7) | cyclic(groups=2, rate=0.1, steps=7)", "gaussian(1) | poisson(0.1) | repeat(4)",
               zero_out);
}

// Two groups, neither of which is worse in every step: |c_0|, |c_2| = 2, 2 and |c_1|, |c_3| = 3, 1.
TEST(Cyclic, TheWorstGroupLiesBetweenItsBounds) {
  const std::string plan = "matrix(sigma=4, lower=[2, 0, 3, 0, 0, 2, 0, 0, 0, 1]) | cyclic(groups=2, rate=0.2, steps=4)";
  const Curve asked = analyze(parse(plan), zero_out);
  const Curve first = analyze(parse("gaussian(2) | poisson(0.2) | repeat(2)"), zero_out);
  const Curve second = analyze(parse("gaussian(4/3) | poisson(0.2); gaussian(4) | poisson(0.2)"), zero_out);
  for (const double epsilon : {0.0, 0.2, 0.5, 1.0}) {
    const Interval found = asked.delta_at(epsilon);
    const double worst = std::max(first.delta_at(epsilon).lo, second.delta_at(epsilon).lo);
    EXPECT_GE(found.hi, worst);
    EXPECT_LE(found.lo, worst * (1 + 1e-9));
    EXPECT_GE(found.lo, worst * (1 - 1e-6));
  }
}

TEST(Cyclic, ReplaceOneNeedsAClipNorm) {
  // With a clip norm the antipodal pair, which is below the mixture that a distance allows.
  const Curve clipped = analyze(parse("gaussian(sigma=1, clip=1) | cyclic(groups=2, rate=0.1, steps=4)"), replace_one);
  const Curve distance = analyze(parse("gaussian(sigma=1, sensitivity=2) | cyclic(groups=2, rate=0.1, steps=4, by=position)"), replace_one);
  EXPECT_LT(clipped.delta_at(1).hi, distance.delta_at(1).lo);
  expect_equal("gaussian(sigma=1, sensitivity=2) | cyclic(groups=2, rate=0.1, steps=4, by=position)",
               "mixture([(0.1, gaussian(sigma=1, sensitivity=2)), (0.9, gdp(0))]) | repeat(2)", replace_one);
}

TEST(Cyclic, RefusesWhatIsNotProved) {
  // The record and its replacement in different groups: no distance between them bounds anything.
  EXPECT_THAT(refusal("gaussian(sigma=1, sensitivity=2) | cyclic(groups=2, rate=0.1, steps=4)", replace_one), HasSubstr("another group"));
  EXPECT_THAT(refusal("gdp(1) | cyclic(groups=2, rate=0.1, steps=4, by=identity)", replace_one), HasSubstr("another group"));
  EXPECT_THAT(refusal("laplace(1) | cyclic(groups=2, rate=0.1, steps=4)"), HasSubstr("Gaussian noise only"));
  EXPECT_THAT(refusal("gaussian(1) | cyclic(groups=2, rate=0.1, steps=4, by=position)"), HasSubstr("moves others to other groups"));
  EXPECT_EQ(refusal("gaussian(1) | cyclic(groups=2, rate=0.1, steps=4, by=position)", zero_out), "accepted");
  EXPECT_THAT(refusal("gaussian(1) | cyclic(groups=2, rate=0.1, steps=4, by=hash)"), HasSubstr("identity"));
  EXPECT_THAT(refusal("matrix(sigma=1, coefficients=[1, 0.5, 0.2], steps=8) | cyclic(groups=2, rate=0.1, steps=8)", zero_out),
              HasSubstr("its bandwidth is 3"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=tree, steps=8) | cyclic(groups=8, rate=0.1, steps=8)", zero_out), HasSubstr("must be banded"));
  EXPECT_THAT(refusal("matrix(sigma=1, coefficients=[1, 0.5], steps=8) | cyclic(groups=2, rate=0.1, steps=9)", zero_out),
              HasSubstr("the steps of the matrix, 8"));
  EXPECT_THAT(refusal("matrix(sigma=1, coefficients=[1, 0.5], steps=8, clip=1) | cyclic(groups=2, rate=0.1, steps=8)", replace_one),
              HasSubstr("by = position"));
  EXPECT_EQ(
      refusal("matrix(sigma=1, coefficients=[1, 0.5], steps=8, clip=1) | cyclic(groups=2, rate=0.1, steps=8, by=position)", replace_one),
      "accepted");
  EXPECT_THAT(refusal("gaussian(1) | group(2) | cyclic(groups=2, rate=0.1, steps=4)"), HasSubstr("one by one"));
  EXPECT_THAT(refusal("gaussian(1) | cyclic(groups=0, rate=0.1, steps=4)"), HasSubstr("groups = 0"));
  EXPECT_THAT(refusal("gaussian(1) | cyclic(groups=2, rate=1.5, steps=4)"), HasSubstr("rate = 1.5"));
}

}  // namespace
}  // namespace tradeoff::detail
