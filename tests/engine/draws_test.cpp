// SPDX-License-Identifier: Apache-2.0
#include "engine/draws.h"

#include <gtest/gtest.h>

#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
#include "loss/gaussian_profile.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/drawn_gaussian.h"
#include "operators/mixture.h"
#include "support/matchers.h"

// [drawn-gaussians]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

LossPointer plain_gaussian(double mu) { return gaussian_loss(Interval::exactly(mu)); }
LossPointer by_chance(double chance, double mu) {
  return mixture_loss({{Interval::exactly(chance), plain_gaussian(mu)}, {Interval::exactly(1 - chance), nothing_seen()}});
}

TEST(DrawsTest, TakesOneKindOfDrawAndPlainGaussians) {
  EXPECT_EQ(compose_by_draws({{plain_gaussian(1), 3}}), nullptr);
  EXPECT_EQ(compose_by_draws({{by_chance(0.25, 1), 3}, {by_chance(0.5, 1), 3}}), nullptr);
  EXPECT_EQ(compose_by_draws({{by_chance(0.25, 1), 3}, {std::make_shared<LaplaceLoss>(Interval::exactly(1)), 1}}), nullptr);
  EXPECT_EQ(compose_by_draws({{by_chance(0.25, 1), std::uint64_t{1} << 40U}}), nullptr) << "too many numbers of draws";
  EXPECT_NE(compose_by_draws({{by_chance(0.25, 1), 3}}), nullptr);
  EXPECT_NE(compose_by_draws({{by_chance(0.25, 1), 3}, {plain_gaussian(1), 2}}), nullptr);
}

// All sets of three runs by hand: chances 27/64, 27/64, 9/64, 1/64 of 0 to 3 draws.
TEST(DrawsTest, IsTheSumOverThreeRuns) {
  for (const double beside : {0.0, 0.5}) {
    Parts parts{{by_chance(0.25, 1.5), 3}};
    if (beside > 0) parts.push_back({plain_gaussian(beside), 1});
    const LossPointer drawn = compose_by_draws(parts);
    for (const double epsilon : {-2.0, 0.0, 0.5, 4.0, 30.0}) {
      Interval truth = Interval::exactly(0);
      const double ways[] = {27, 27, 9, 1};
      for (int k = 0; k <= 3; ++k) {
        const Interval mu = sqrt(Interval::exactly(beside * beside) + Interval::exactly(2.25 * k));
        truth = truth + Interval::exactly(ways[k] / 64) * gaussian_delta(mu, Interval::exactly(epsilon));
      }
      for (const Direction direction : {Direction::remove, Direction::add}) {
        EXPECT_THAT(drawn->delta(direction, Interval::exactly(epsilon)), Encloses(truth)) << epsilon;
        EXPECT_THAT(drawn->delta(direction, Interval::exactly(epsilon)), IsTight(1e-11)) << epsilon;
        EXPECT_THAT(drawn->log_delta(direction, Interval::exactly(epsilon)), Encloses(log(truth))) << epsilon;
      }
    }
  }
}

// A lattice shares nothing with the sum over the numbers of draws.
TEST(DrawsTest, AgreesWithALattice) {
  for (const double chance : {1.0 / 1024, 1.0 / 16, 0.5})
    for (const std::uint64_t times : {2, 100, 3000}) {
      const Parts parts{{by_chance(chance, 0.75), times}};
      const LossPointer drawn = compose_by_draws(parts), lattice = compose_by_lattice(parts, {1e-5});
      for (const double epsilon : {0.0, 1.0, 8.0}) {
        const Interval one = drawn->log_delta(Direction::remove, Interval::exactly(epsilon));
        const Interval other = lattice->log_delta(Direction::remove, Interval::exactly(epsilon));
        EXPECT_TRUE(one.lo <= other.hi && other.lo <= one.hi) << chance << " " << times << " " << epsilon;
        EXPECT_LE(one.width(), 1e-9) << chance << " " << times << " " << epsilon;
      }
    }
}

// Components that are draws themselves add up: 1/2 * 1/4 + 1/8 = 1/4.
TEST(DrawsTest, ChancesOfNestedMixturesAddUp) {
  const LossPointer nested = mixture_loss({{Interval::exactly(0.5), by_chance(0.25, 1)},
                                           {Interval::exactly(0.125), plain_gaussian(1)},
                                           {Interval::exactly(0.375), nothing_seen()}});
  const LossPointer left = compose_by_draws({{nested, 7}}), right = compose_by_draws({{by_chance(0.25, 1), 7}});
  ASSERT_NE(left, nullptr);
  for (const double epsilon : {0.0, 1.0, 5.0})
    EXPECT_THAT(left->delta(Direction::remove, Interval::exactly(epsilon)),
                Encloses(right->delta(Direction::remove, Interval::exactly(epsilon))));
  const LossPointer unequal = mixture_loss({{Interval::exactly(0.25), plain_gaussian(1)},
                                            {Interval::exactly(0.25), plain_gaussian(2)},
                                            {Interval::exactly(0.5), nothing_seen()}});
  EXPECT_FALSE(unequal->capabilities(Direction::remove).drawn);
}

// Far from the mean the listed numbers end; what is left out is added.
TEST(DrawsTest, CoversTheNumbersThatAreNotListed) {
  const LossPointer drawn = compose_by_draws({{by_chance(0.5, 1.0 / 64), 10000}});
  ASSERT_NE(drawn, nullptr);
  // At this epsilon most of delta comes from runs in which nearly all are drawn, whose probability is below every number that is listed.
  const Interval far = drawn->log_delta(Direction::remove, Interval::exactly(300));
  const Interval all = 10000.0 * log(Interval::exactly(0.5)) + log_gaussian_delta(Interval::exactly(100.0 / 64), Interval::exactly(300));
  EXPECT_LE(far.lo, far.hi);
  EXPECT_GE(far.hi, all.lo);
}

TEST(DrawsTest, ExplainsItsAnswers) {
  const LossPointer drawn = compose_by_draws({{by_chance(0.25, 1), 30}});
  const auto found = evaluations_of(*drawn, Direction::remove, 1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().theorem, "drawn-gaussians");
}

}  // namespace
}  // namespace tradeoff::detail
