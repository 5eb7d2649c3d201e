// SPDX-License-Identifier: Apache-2.0
#include "engine/average.h"

#include <gtest/gtest.h>

#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
#include "loss/gaussian_profile.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/refine.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

// [averaged-profile]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

LossPointer response(double epsilon) { return randomized_response(Interval::exactly(epsilon), 2); }
LossPointer one_gaussian(double mu) { return gaussian_loss(Interval::exactly(mu)); }
LossPointer refined_zcdp(double rho) { return refine(zcdp_bound(Interval::exactly(rho))); }

TEST(AverageTest, TakesFiniteLawsAndOneRunOfAnother) {
  EXPECT_EQ(compose_by_average({{response(1), 3}}, {}), nullptr);
  EXPECT_EQ(compose_by_average({{one_gaussian(1), 1}}, {}), nullptr);
  EXPECT_EQ(compose_by_average({{response(1), 3}, {one_gaussian(1), 2}}, {}), nullptr);
  EXPECT_EQ(compose_by_average({{response(1), 3}, {one_gaussian(1), 1}, {refined_zcdp(0.1), 1}}, {}), nullptr);
  EXPECT_EQ(compose_by_average({{response(1), 1000000}, {one_gaussian(1), 1}}, {}), nullptr) << "too many atoms";
  EXPECT_NE(compose_by_average({{response(1), 3}, {one_gaussian(1), 1}}, {}), nullptr);
}

// One response has the losses +-e0 with masses e^e0/(1 + e^e0) and 1/(1 + e^e0).
TEST(AverageTest, IsTheSumOverOneResponse) {
  const auto both = compose_by_average({{response(0.75), 1}, {one_gaussian(1.5), 1}}, {});
  const Interval larger = 1.0 / (1.0 + exp(Interval::exactly(-0.75))), smaller = 1.0 - larger, mu = Interval::exactly(1.5);
  for (const double epsilon : {-2.0, 0.0, 0.5, 4.0, 30.0}) {
    const Interval truth =
        larger * gaussian_delta(mu, Interval::exactly(epsilon - 0.75)) + smaller * gaussian_delta(mu, Interval::exactly(epsilon + 0.75));
    for (const Direction direction : {Direction::remove, Direction::add}) {
      EXPECT_THAT(both->delta(direction, Interval::exactly(epsilon)), Encloses(truth)) << epsilon;
      EXPECT_THAT(both->delta(direction, Interval::exactly(epsilon)), IsTight(1e-11)) << epsilon;
    }
  }
}

TEST(AverageTest, KeepsInfiniteLossesAndBothDirections) {
  const auto stated = std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(1), Interval::exactly(0.125)}});
  const auto sampled = std::make_shared<PoissonLoss>(stated, Interval::exactly(0.25));
  const Parts parts{{sampled, 3}, {one_gaussian(0.5), 1}};
  const auto both = compose_by_average(parts, {});
  const auto lattice = compose_by_lattice(parts, {1e-5});
  ASSERT_NE(both, nullptr);
  for (const Direction direction : {Direction::remove, Direction::add}) {
    EXPECT_THAT(both->infinite_mass(direction), Encloses(lattice->infinite_mass(direction)));
    for (const double epsilon : {-0.5, 0.0, 0.25, 1.0}) {
      const Interval found = both->delta(direction, Interval::exactly(epsilon));
      EXPECT_THAT(lattice->delta(direction, Interval::exactly(epsilon)), Encloses(found)) << epsilon;
      EXPECT_THAT(found, IsTight(1e-11)) << epsilon;
    }
  }
  EXPECT_GT(both->delta(Direction::remove, Interval::exactly(1)).lo, both->delta(Direction::add, Interval::exactly(1)).hi);
}

TEST(AverageTest, AgreesWithTheLatticeForStatedDivergences) {
  const Parts parts{{response(0.5), 5}, {refined_zcdp(0.02), 1}};
  const auto both = compose_by_average(parts, {});
  const auto lattice = compose_by_lattice(parts, {1e-4});
  for (const double epsilon : {-1.0, 0.125, 1.0, 3.0}) {
    const Interval found = both->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(lattice->delta(Direction::remove, Interval::exactly(epsilon)), Encloses(found)) << epsilon;
    EXPECT_THAT(found, IsTight(1e-10)) << epsilon;
  }
}

// delta = P(L > e) - e^e Q(L > e).
TEST(AverageTest, ItsTestsGiveItsProfile) {
  const auto both = compose_by_average({{response(0.5), 4}, {refined_zcdp(0.05), 1}}, {});
  for (const double epsilon : {-0.7, 0.3, 1.7}) {
    const auto test = both->test_at(Direction::remove, epsilon);
    ASSERT_TRUE(test.has_value()) << epsilon;
    const Interval delta = both->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(test->true_positive - exp(Interval::exactly(epsilon)) * test->false_positive, Encloses(delta)) << epsilon;
    EXPECT_THAT(test->false_positive, IsTight(1e-9)) << epsilon;
  }
}

TEST(AverageTest, SmallerThanEveryDoubleInLogarithms) {
  const auto both = compose_by_average({{response(0.5), 4}, {one_gaussian(1), 1}}, {});
  const Interval found = both->log_delta(Direction::remove, Interval::exactly(60));
  EXPECT_LT(found.hi, -1500);
  EXPECT_THAT(found, IsTight(1e-10));
  EXPECT_THAT(both->log_delta(Direction::remove, Interval::exactly(2)),
              Encloses(log(both->delta(Direction::remove, Interval::exactly(2)))));
}

TEST(AverageTest, DescribesItself) {
  const auto both = compose_by_average({{response(0.5), 4}, {one_gaussian(1), 1}}, {});
  const auto found = evaluations_of(*both, Direction::remove, 1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().theorem, "averaged-profile");
  EXPECT_EQ(found.front().counts.front().second, 5U);
}

}  // namespace
}  // namespace tradeoff::detail
