// SPDX-License-Identifier: Apache-2.0
// [tangent-approximation] [chord-approximation] [lattice-tangents] [lattice-chords]
#include "curve/approximate.h"

#include <gtest/gtest.h>

#include <cfenv>

#include "engine/exact/exact.h"
#include "loss/gaussian_profile.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_interval;
using test::IsTight;
using test::read_golden;

LossPointer family(const nlohmann::json& inputs) {
  const Interval parameter = golden_interval(inputs["param"]);
  if (inputs["family"] == "gaussian") return gaussian_loss(parameter);
  return std::make_shared<LaplaceLoss>(parameter);
}

void expect_pieces(const Approximation& found, const nlohmann::json& expected) {
  ASSERT_EQ(found.pieces.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string index = std::to_string(i + 1);
    EXPECT_THAT(found.pieces[i].epsilon, Encloses(expected["eps" + index].get<std::string>()));
    EXPECT_THAT(found.pieces[i].delta, Encloses(expected["delta" + index].get<std::string>()));
    EXPECT_LE(found.pieces[i].epsilon.width(), 1e-9);
    EXPECT_LE(found.pieces[i].delta.width(), 1e-9);
  }
  EXPECT_THAT(found.area, Encloses(expected["area_under"].get<std::string>()));
  EXPECT_LE(found.area.width(), 1e-8);
}

TEST(Approximate, FindsTheGoldenOptima) {
  int cases = 0;
  const auto golden = read_golden("multiple_constraints.json");
  for (const auto& test : golden["cases"]) {
    if (test["kind"] != "double_dp_approximation") continue;
    SCOPED_TRACE(test["id"].get<std::string>());
    const Approximations found = approximate(*family(test["inputs"]), 2);
    {
      SCOPED_TRACE("below");
      expect_pieces(found.below, test["expected"]["below_area_optimal"]);
    }
    {
      SCOPED_TRACE("published");
      expect_pieces(found.below_published, test["expected"]["below_published"]);
    }
    {
      SCOPED_TRACE("above");
      expect_pieces(found.above, test["expected"]["above"]);
    }
    EXPECT_THAT(*found.area, Encloses(test["expected"]["area_under_f"].get<std::string>()));
    ++cases;
  }
  EXPECT_EQ(cases, 6);
}

TEST(Approximate, FindsTheGoldenLaplaceLattice) {
  const auto golden = read_golden("multiple_constraints.json");
  for (const auto& test : golden["cases"]) {
    if (test["kind"] != "laplace_lattice_bounds") continue;
    const auto found = approximate(LaplaceLoss(golden_interval(test["inputs"]["eps"])), test["inputs"]["m"].get<std::size_t>());
    const auto& expected = test["expected"]["below"]["constraints"];
    ASSERT_EQ(found.below.pieces.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_THAT(found.below.pieces[i].epsilon, Encloses(expected[i][0].get<std::string>()));
      EXPECT_THAT(found.below.pieces[i].delta, Encloses(expected[i][1].get<std::string>()));
    }
  }
}

TEST(Approximate, SandwichesTheCurveAndGetsBetterWithPieces) {
  for (const LossPointer& loss : {gaussian_loss(Interval::exactly(1)), gaussian_loss(Interval::exactly(3)),
                                  LossPointer(std::make_shared<LaplaceLoss>(Interval::exactly(1.5)))}) {
    double gap = 1;
    for (const std::size_t pieces : {1U, 2U, 3U, 5U, 8U}) {
      const Approximations found = approximate(*loss, pieces);
      EXPECT_EQ(found.below.pieces.size(), pieces);
      EXPECT_EQ(found.above.pieces.size(), pieces);
      EXPECT_LE(found.below_published.area.lo, found.below.area.hi);
      EXPECT_LE(found.below.area.lo, found.area->hi);
      EXPECT_GE(found.above.area.hi, found.area->lo);
      EXPECT_LT(found.above.area.hi - found.below.area.lo, gap) << pieces;
      gap = found.above.area.hi - found.below.area.lo;
      const ConstraintsLoss below(found.below.pieces);
      const ConstraintsLoss above(found.above.pieces);
      for (const double epsilon : {0.0, 0.2, 0.7, 1.4, 2.0}) {
        const Interval at = Interval::exactly(epsilon);
        const Interval delta = loss->delta(Direction::remove, at);
        EXPECT_GE(below.delta(Direction::remove, at).hi, delta.lo) << pieces << " " << epsilon;
        EXPECT_LE(above.delta(Direction::remove, at).lo, delta.hi) << pieces << " " << epsilon;
      }
    }
    EXPECT_LT(gap, 0.004);
  }
}

TEST(Approximate, BoundsTheCompositionOfTheCurve) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const Approximations found = approximate(*gaussian, 2);
  for (const std::uint64_t times : {2U, 5U, 10U}) {
    const LossPointer below = compose_exactly({{std::make_shared<ConstraintsLoss>(found.below.pieces), times}}, {});
    const LossPointer above = compose_exactly({{std::make_shared<ConstraintsLoss>(found.above.pieces), times}}, {});
    for (const double epsilon : {0.0, 1.0, 3.0}) {
      const Interval at = Interval::exactly(epsilon);
      const Interval exact = gaussian_loss(sqrt(Interval::exactly(static_cast<double>(times))))->delta(Direction::remove, at);
      EXPECT_GT(below->delta(Direction::remove, at).lo, exact.hi);
      EXPECT_LT(above->delta(Direction::remove, at).hi, exact.lo);
    }
  }
}

TEST(Approximate, ComposesLatticeTangentsAsTheGoldenValuesSay) {
  const auto golden = read_golden("multiple_constraints.json");
  int cases = 0;
  for (const auto& test : golden["cases"]) {
    if (test["kind"] != "lattice_tangent_bound") continue;
    const auto& inputs = test["inputs"];
    const auto tangents =
        lattice_tangents(*gaussian_loss(golden_interval(inputs["mu"])), golden_interval(inputs["h"]), inputs["N"].get<std::size_t>());
    const LossPointer composed = compose_exactly({{std::make_shared<ConstraintsLoss>(tangents), inputs["k"].get<std::uint64_t>()}}, {});
    for (const auto& point : test["expected"]["delta"]) {
      const Interval delta = composed->delta(Direction::remove, golden_interval(point["eps"]));
      EXPECT_THAT(delta, Encloses(point["delta"].get<std::string>())) << point;
      EXPECT_THAT(delta, IsTight(1e-9)) << point;
    }
    for (const auto& point : test["expected"]["tradeoff"])
      EXPECT_THAT(*composed->closed_beta(Direction::remove, golden_interval(point["alpha"])), Encloses(point["beta"].get<std::string>()))
          << point;
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

TEST(Approximate, PutsLatticeChordsAboveTheCurveAndTangentsBelow) {
  for (const LossPointer& loss : {gaussian_loss(Interval::exactly(1)), gaussian_loss(Interval::exactly(0.1))}) {
    const Interval step = Interval::exactly(0.25);
    const ConstraintsLoss above(lattice_chords(*loss, step, 16));
    const ConstraintsLoss below(lattice_tangents(*loss, step, 16));
    for (double epsilon = 0; epsilon < 4; epsilon += 0.0625) {
      const Interval at = Interval::exactly(epsilon);
      const Interval delta = loss->delta(Direction::remove, at);
      EXPECT_LE(above.delta(Direction::remove, at).lo, delta.hi) << epsilon;
      EXPECT_GE(below.delta(Direction::remove, at).hi, delta.lo) << epsilon;
    }
  }
}

// Gaps of G_1 run ten times, second order in the step: published for slopes up to 6 in steps of 1 to 1/16.
TEST(Approximate, ClosesInOnTheCompositionWithMoreSlopes) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const LossPointer truth = gaussian_loss(sqrt(Interval::exactly(10)));
  for (const double epsilon : {0.0, 4.0, 8.0}) {
    const Interval at = Interval::exactly(epsilon);
    const Interval exact = truth->delta(Direction::remove, at);
    double coarser = 0;
    for (const std::size_t pieces : {6U, 12U, 48U}) {
      const Interval between = composed_between_polygons(gaussian, pieces, 10, at);
      EXPECT_LT(between.lo, exact.lo);
      EXPECT_GT(between.hi, exact.hi);
      const double gap = (between.hi - between.lo) / exact.lo;
      if (coarser > 0) {
        EXPECT_LT(gap, coarser / 2) << epsilon << " " << pieces;
      }
      coarser = gap;
    }
    EXPECT_LT(coarser, epsilon < 8 ? 5e-3 : 1.5e-2) << epsilon;
  }
}

TEST(Approximate, TakesAnyNumberOfRuns) {
  const Interval between = composed_between_polygons(gaussian_loss(Interval::exactly(1e-3)), 4, 1000000, Interval::exactly(1));
  const Interval exact = gaussian_loss(Interval::exactly(1))->delta(Direction::remove, Interval::exactly(1));
  EXPECT_LE(between.lo, exact.lo);
  EXPECT_GE(between.hi, exact.hi);
}

TEST(Approximate, EnclosesTheCompositionOfLaplace) {
  const LossPointer laplace = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  const Interval between = composed_between_polygons(laplace, 9, 5, Interval::exactly(0));
  EXPECT_THAT(between, IsTight(1e-3));
  EXPECT_LE(between.lo, 0.6786316);  // published: between 0.6786316 and 0.6786393
  EXPECT_GE(between.hi, 0.6786393);
}

// [usual-arithmetic]
TEST(Approximate, DoesNotDependOnTheRoundingOfTheCaller) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const auto ask = [&] { return composed_between_polygons(gaussian, 8, 3, Interval::exactly(1)); };
  const Interval usual = ask();
  std::fesetround(FE_UPWARD);
  const Interval upward = ask();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(upward, usual);
}

TEST(Approximate, RefusesWhatItCannotDo) {
  EXPECT_THROW((void)approximate(*gaussian_loss(Interval::exactly(1)), 0), DomainError);
  EXPECT_THROW((void)approximate(*gaussian_loss(Interval::exactly(1)), 1000), TooLargeError);
  const ConstraintsLoss polygon({{Interval::exactly(1), Interval::exactly(0)}});
  EXPECT_THROW((void)approximate(polygon, 2), UnsupportedError);
  EXPECT_THROW((void)approximate(*gaussian_loss(Interval::exactly(0)), 2), UnsupportedError);
}

}  // namespace
}  // namespace tradeoff::detail
