// SPDX-License-Identifier: Apache-2.0
#include "operators/subsampled_gaussian.h"

#include <gtest/gtest.h>

#include "loss/transform.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

// [poisson-subsampling] [node-quadrature]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

TEST(SubsampledGaussian, HoldsGoldenProfiles) {
  for (const auto& one : golden_group("f_dp.json", "sub_gauss_1")) {
    const auto& inputs = one.at("inputs");
    const auto loss = subsampled_gaussian(1.0 / golden_interval(inputs.at("sigma")), golden_interval(inputs.at("q")));
    const Interval epsilon = golden_interval(inputs.at("eps"));
    for (const auto& [name, direction] : {std::pair{"remove", Direction::remove}, std::pair{"add", Direction::add}}) {
      const Interval delta = loss->delta(direction, epsilon);
      EXPECT_THAT(delta, Encloses(one.at("value").at(name).get<std::string>())) << one.at("id") << name;
      EXPECT_THAT(delta, IsTight(1e-9)) << one.at("id") << name;
    }
  }
}

// delta(e) = P(L > e) - e^e Q(L > e): the test at e must give the profile at e, in both directions and beyond the largest loss.
TEST(SubsampledGaussian, TestsMeetTheProfile) {
  const auto loss = subsampled_gaussian(Interval::exactly(1.5), Interval::exactly(0.25));
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {-0.28, -0.1, 0.0, 0.125, 0.28, 0.3, 2.0}) {
      const auto test = loss->test_at(direction, e);
      ASSERT_TRUE(test.has_value());
      const Interval delta = test->true_positive - exp(Interval::exactly(e)) * test->false_positive;
      EXPECT_THAT(delta, Encloses(loss->delta(direction, Interval::exactly(e)))) << e;
      EXPECT_LE(delta.width(), 1e-12);
    }
}

// A rate known only to two doubles gives moments that hold at both of them.
TEST(SubsampledGaussian, MomentsHoldForEveryParameterInTheInterval) {
  const Interval rate{0.1, std::nextafter(0.1, 1)}, mu{0.7, std::nextafter(0.7, 1)};
  const auto wide = subsampled_gaussian(mu, rate);
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const auto tilt = wide->transform(direction)->prepare({0, 8, 1e6, 0, false, 6, 1})->tilt(6);
    for (const double q : {rate.lo, rate.hi})
      for (const double m : {mu.lo, mu.hi}) {
        const auto exact = subsampled_gaussian(Interval::exactly(m), Interval::exactly(q));
        const auto moments = exact->transform(direction)->prepare({0, 8, 1e6, 0, false, 6, 1});
        EXPECT_THAT(tilt->log_moment(), Encloses(moments->tilt(6)->log_moment())) << q << " " << m;
      }
  }
}

TEST(SubsampledGaussian, OffersNoTransformForWideParameters) {
  EXPECT_EQ(subsampled_gaussian({1, 1.001}, Interval::exactly(0.1))->transform(Direction::remove), nullptr);
  EXPECT_EQ(subsampled_gaussian(Interval::exactly(1), {0.1, 0.101})->transform(Direction::add), nullptr);
  EXPECT_NE(subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.1))->transform(Direction::add), nullptr);
}

TEST(SubsampledGaussian, KnowsItsLargestLoss) {
  const auto loss = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.25));
  EXPECT_EQ(loss->transform(Direction::remove)->largest_loss(), infinity);
  EXPECT_GE(loss->transform(Direction::add)->largest_loss(), -std::log(0.75));
  EXPECT_LE(loss->transform(Direction::add)->largest_loss(), -std::log(0.75) * (1 + 1e-14));
}

// Both ends of wide parameters are available; parameters a few roundings wide give one break with a width.
TEST(SubsampledGaussian, GivesTheBreakOfTheRequestedEnd) {
  const auto of = [](const LossPointer& loss, ParameterEnd end) {
    return loss->break_points(Direction::remove, end).value().sampled.value();
  };
  const auto wide = subsampled_gaussian({1, 1.5}, {0.125, 0.25});
  EXPECT_EQ(of(wide, ParameterEnd::worse), (SampledGaussianFactor{SampledBy::poisson, 1.5, 0.25}));
  EXPECT_EQ(of(wide, ParameterEnd::better), (SampledGaussianFactor{SampledBy::poisson, 1, 0.125}));
  const auto narrow = subsampled_gaussian({1, std::nextafter(1, 2)}, Interval::exactly(0.25));
  EXPECT_EQ(of(narrow, ParameterEnd::worse), (SampledGaussianFactor{SampledBy::poisson, 1, 0.25, 0x1p-52, 0}));
}

}  // namespace
}  // namespace tradeoff::detail
