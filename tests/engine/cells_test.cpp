// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/cells.h"

#include <gtest/gtest.h>

#include "engine/hyperbolic/hyperbolic.h"
#include "loss/evaluation.h"
#include "loss/gaussian_profile.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// [two-step-cells]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

TEST(CellsTest, TakesExactlyTwoStepsOneOfThemContinuous) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const LossPointer laplace = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  EXPECT_EQ(compose_by_cells({{gaussian, 3}}, {}), nullptr);
  EXPECT_EQ(compose_by_cells({{gaussian, 1}}, {}), nullptr);
  EXPECT_EQ(compose_by_cells({{laplace, 2}}, {}), nullptr);
  EXPECT_NE(compose_by_cells({{laplace, 1}, {gaussian, 1}}, {}), nullptr);
}

TEST(CellsTest, TwoGaussiansAreOne) {
  const auto loss = compose_by_cells({{gaussian_loss(Interval::exactly(0.6)), 1}, {gaussian_loss(Interval::exactly(0.8)), 1}}, {1e-4});
  for (const double epsilon : {-1.0, 0.0, 0.5, 3.0}) {
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(delta, Encloses(gaussian_delta(Interval::exactly(1), Interval::exactly(epsilon)))) << epsilon;
    EXPECT_THAT(delta, IsTight(1e-3)) << epsilon;
  }
}

TEST(CellsTest, TwoSubsampledStepsMatchGolden) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd2_delta")) {
    const auto& in = one.at("inputs");
    const LossPointer step = subsampled_gaussian(1.0 / golden_interval(in.at("sigma")), golden_interval(in.at("q")));
    const auto loss = compose_by_cells({{step, 2}}, {1e-4});
    const Direction direction = in.at("direction") == "remove" ? Direction::remove : Direction::add;
    const Interval delta = loss->delta(direction, golden_interval(in.at("eps")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(delta, IsTight(1e-3)) << one.at("id");
  }
}

// Two independent proofs for the same plan; at small rates the contour needs its split.
TEST(CellsTest, AgreesWithTheHyperbolicContour) {
  for (const double mu : {0.5, 1.0}) {
    for (const double rate : {0.001, 0.1}) {
      const Parts parts{{subsampled_gaussian(Interval::exactly(mu), Interval::exactly(rate)), 1},
                        {std::make_shared<LaplaceLoss>(Interval::exactly(0.05)), 1}};
      const auto cells = compose_by_cells(parts, {1e-4});
      const auto contour = compose_by_hyperbolic_contour(parts, {});
      for (const double epsilon : {0.02, 0.2}) {
        for (const Direction direction : {Direction::remove, Direction::add}) {
          const Interval bracket = cells->delta(direction, Interval::exactly(epsilon));
          EXPECT_THAT(bracket, Encloses(contour->delta(direction, Interval::exactly(epsilon)))) << mu << " " << rate << " " << epsilon;
          EXPECT_THAT(bracket, IsTight(1e-3)) << mu << " " << rate << " " << epsilon;
        }
      }
    }
  }
}

TEST(CellsTest, KnowsBothDirectionsAndTheFloor) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const LossPointer stated = std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(1), Interval::exactly(0.125)}});
  const auto both = compose_by_cells({{gaussian, 1}, {stated, 1}}, {1e-4});
  EXPECT_TRUE(both->symmetric());
  EXPECT_EQ(both->infinite_mass(Direction::remove), Interval::exactly(0.125));
  EXPECT_EQ(both->delta(Direction::remove, Interval::exactly(infinity)), Interval::exactly(0.125));
  EXPECT_FALSE(compose_by_cells({{subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.1)), 2}}, {})->symmetric());
  const auto found = explained([&] { return both->delta(Direction::remove, Interval::exactly(1)); });
  EXPECT_EQ(found.method, Method::lattice);
  EXPECT_EQ(found.steps.back().theorem, "two-step-cells");
  const std::vector<Evaluation> account = evaluations_of(*both, Direction::remove, 1);
  ASSERT_EQ(account.size(), 1U);
  EXPECT_THAT(exp(account.front().log_delta), Encloses(both->delta(Direction::remove, Interval::exactly(1))));
  EXPECT_EQ(account.front().counts.front().first, "cells");
  EXPECT_GT(account.front().counts.front().second, 10U);
}

}  // namespace
}  // namespace tradeoff::detail
