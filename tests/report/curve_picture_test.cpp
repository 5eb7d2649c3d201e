// SPDX-License-Identifier: Apache-2.0
#include "report/curve_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/matchers.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail::report {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

NamedCurve named(const std::string& plan) { return {plan, analyze(parse(plan))}; }

TEST(CurvePicture, ShowsTheTradeOffFunctionWithItsRegionAndRisk) {
  const Picture picture = draw_curves(View::tradeoff, {named("gdp(mu=1)")}, Direction::worst, 11);
  ASSERT_THAT(picture.series, SizeIs(5));
  EXPECT_EQ(picture.series[0].label, "gdp(mu=1)");
  EXPECT_EQ(picture.series[1].shape, Shape::area);
  for (const auto& [alpha, between] : picture.series[1].spots) EXPECT_LE(between.lo, between.hi);
  // G_1(0.01) = Phi(Phi^-1(0.99) - 1) = 0.90760...; what is claimed is rounded down.
  EXPECT_THAT(picture.series[2].label, HasSubstr("at 1 % false positives at least 90.7 % are missed"));
  EXPECT_THAT(draw_curves(View::tradeoff, {named("gdp(mu=1)"), named("gdp(mu=2)")}, Direction::worst, 11).series, SizeIs(3));
}

TEST(CurvePicture, GivesAllProfilesOneRange) {
  const Picture picture = draw_curves(View::profile, {named("laplace(scale=1)"), named("gdp(mu=1)")}, Direction::worst, 41);
  ASSERT_THAT(picture.series, SizeIs(2));
  EXPECT_EQ(picture.series[0].spots.back().x, picture.series[1].spots.back().x);
  EXPECT_THAT(picture.series[0].spots.front().y, test::Encloses(0.39346934028736657640));  // 1 - exp(-1/2)
  for (const Series& one : picture.series) {
    EXPECT_TRUE(std::is_sorted(one.spots.begin(), one.spots.end(), [](const Spot& a, const Spot& b) { return a.x < b.x; }));
  }
}

TEST(CurvePicture, GoesDownAsFarAsTheProfilesDo) {
  EXPECT_EQ(draw_curves(View::profile, {named("dp(epsilon=1, delta=0.02)")}, Direction::worst, 21).y.low, 0.01);
  EXPECT_EQ(draw_curves(View::profile, {named("gdp(mu=1)")}, Direction::worst, 21).y.low, 1e-10);
  EXPECT_EQ(draw_curves(View::profile, {named("dp(epsilon=1)")}, Direction::worst, 21).y.low, 1e-10);
}

TEST(CurvePicture, DistinguishesTheEighthPlanFromTheFirst) {
  const Picture picture = draw_curves(View::gdpt, std::vector<NamedCurve>(8, named("gdp(mu=1)")), Direction::worst, 3);
  EXPECT_EQ(picture.series.front().stroke, Stroke::solid);
  EXPECT_EQ(picture.series.back().stroke, Stroke::dashed);
}

TEST(CurvePicture, OfAGaussianInUnitsOfGaussiansIsFlat) {
  const Picture picture = draw_curves(View::gdpt, {named("gdp(mu=1.5)")}, Direction::worst, 21);
  for (const Spot& spot : picture.series[0].spots) EXPECT_THAT(spot.y, test::Encloses(1.5));
}

}  // namespace
}  // namespace tradeoff::detail::report
