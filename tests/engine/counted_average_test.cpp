// SPDX-License-Identifier: Apache-2.0
#include "engine/counted_average.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/average.h"
#include "engine/compose.h"
#include "engine/contour/remainder.h"
#include "engine/hyperbolic/hyperbolic.h"
#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "mechanism/randomized_response.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/refine.h"
#include "operators/subsampled.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// [averaged-counts]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

constexpr Direction directions[] = {Direction::remove, Direction::add};

LossPointer response(double epsilon, int choices = 2) { return randomized_response(Interval::exactly(epsilon), choices); }
LossPointer laplace(double scale) { return std::make_shared<LaplaceLoss>(Interval::exactly(1 / scale)); }
LossPointer refined_zcdp(double rho) { return refine(zcdp_bound(Interval::exactly(rho))); }
LossPointer sampled_guarantee(double epsilon, double delta, double rate) {
  const auto stated = std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(epsilon), Interval::exactly(delta)}});
  return std::make_shared<const PoissonLoss>(stated, Interval::exactly(rate));
}
LossPointer counted(const Parts& parts, const CountedAverageAccuracy& accuracy = {}) {
  return compose_by_counted_average(parts, [](Parts others) { return compose(std::move(others), Tolerance{}).loss; }, accuracy);
}

TEST(CountedAverage, TakesFiniteLawsBesideOthers) {
  EXPECT_EQ(counted({{response(1), 3}}), nullptr);
  EXPECT_NE(counted({{response(1), 3}, {response(0.3), 2}}), nullptr) << "all are finite: one of them is averaged";
  EXPECT_EQ(counted({{laplace(1), 1}}), nullptr);
  EXPECT_EQ(counted({{response(1, 4), 1'000'000}, {response(0.5, 7), 1'000'000}, {laplace(1), 1}}), nullptr) << "too many counts";
  EXPECT_NE(counted({{response(1), 3}, {laplace(1), 1}}), nullptr);
  EXPECT_NE(counted({{response(1), 3}, {laplace(1), 2}}), nullptr);
}

// The same average over all atoms, listed exactly; delta down to 1e-250, where other levels answer.
TEST(CountedAverage, IsTheAverageOverAllAtoms) {
  for (const LossPointer& other : {laplace(3), refined_zcdp(0.01), subsampled_gaussian(Interval::exactly(0.25), Interval::exactly(0.125))})
    for (const Parts& parts : {Parts{{response(0.0625), 400}, {other, 1}}, Parts{{response(0.5, 4), 20}, {response(0.25), 5}, {other, 1}},
                               Parts{{response(0.0625, 5), 200}, {response(0.25), 1}, {other, 1}}}) {
      const LossPointer all = compose_by_average(parts, {}), found = counted(parts);
      ASSERT_NE(all, nullptr);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->symmetric(), all->symmetric());
      for (const Direction direction : directions)
        for (const double epsilon : {-3.0, 0.0, 0.7, 3.0, 9.0, 40.0, 70.0}) {
          const Interval truth = all->log_delta(direction, Interval::exactly(epsilon)),
                         here = found->log_delta(direction, Interval::exactly(epsilon));
          EXPECT_LE(here.lo, truth.hi) << epsilon;
          EXPECT_GE(here.hi, truth.lo) << epsilon;
          if (truth.lo > -600) {
            EXPECT_LE(here.width(), 1e-9) << epsilon << ' ' << parts.size();
          }
          const auto test = found->test_at(direction, epsilon), exact = all->test_at(direction, epsilon);
          ASSERT_EQ(test.has_value(), exact.has_value());
          if (!test) continue;
          EXPECT_THAT(test->true_positive, Encloses(exact->true_positive)) << epsilon;
          EXPECT_THAT(test->false_positive, Encloses(exact->false_positive)) << epsilon;
        }
    }
}

// Sampled guarantees have losses that occur in one of a billion runs, and infinite ones in one direction only.
TEST(CountedAverage, KeepsRareAndInfiniteLosses) {
  const Parts parts{{sampled_guarantee(0.5, 0.0625, 0.25), 6}, {laplace(2), 1}};
  const LossPointer found = counted(parts), lattice = compose_by_lattice(parts, {1e-5});
  ASSERT_NE(found, nullptr);
  for (const Direction direction : directions) {
    EXPECT_THAT(found->infinite_mass(direction), Encloses(lattice->infinite_mass(direction)));
    EXPECT_EQ(found->delta(direction, Interval::exactly(infinity)), found->infinite_mass(direction));
    for (const double epsilon : {-0.5, 0.0, 0.25, 1.0}) {
      const Interval here = found->delta(direction, Interval::exactly(epsilon));
      EXPECT_THAT(lattice->delta(direction, Interval::exactly(epsilon)), Encloses(here)) << epsilon;
      EXPECT_THAT(here, IsTight(1e-10)) << epsilon;
    }
  }
  EXPECT_GT(found->delta(Direction::remove, Interval::exactly(1)).lo, found->delta(Direction::add, Interval::exactly(1)).hi);
}

// With much left out the enclosure is wide: above by what is left out, in both probabilities of a test. Far out nothing is listed.
TEST(CountedAverage, CountsWhatIsLeftOut) {
  const Parts parts{{response(0.125), 500}, {response(0.1875), 400}, {gaussian_loss(Interval::exactly(0.25)), 1}};
  const LossPointer fine = counted(parts), coarse = counted(parts, {1e13});
  for (double epsilon = 0; epsilon < 30; epsilon += 1) {
    const Interval truth = fine->delta(Direction::remove, Interval::exactly(epsilon)),
                   wide = coarse->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(wide, Encloses(truth)) << epsilon;
    EXPECT_GT(truth.lo, 1e-14) << epsilon;
    if (epsilon < 10) {
      EXPECT_GT(wide.width(), 1e-7) << epsilon << ": nothing was left out";
    }
    EXPECT_LT(wide.width(), 1e-2) << epsilon;
    const auto test = fine->test_at(Direction::remove, epsilon), rough = coarse->test_at(Direction::remove, epsilon);
    ASSERT_TRUE(test && rough);
    EXPECT_THAT(rough->true_positive, Encloses(test->true_positive)) << epsilon;
    EXPECT_GE(rough->false_positive.hi, exp(-Interval::exactly(epsilon + 1)).lo * test->true_positive.lo * 0.1) << epsilon;
  }
}

// A value that is left out, because it is rare, counts as well.
TEST(CountedAverage, CountsRareValues) {
  const auto three = [](double first, double rare) {
    return std::vector<Interval>{Interval::exactly(first), Interval::exactly(1 - first - rare), Interval::exactly(rare)};
  };
  const Parts parts{{pair_loss(three(0.5, 0x1p-26), three(0.25, 0x1p-38)), 1}, {gaussian_loss(Interval::exactly(0.25)), 1}};
  const auto fine = counted(parts)->test_at(Direction::remove, 5), coarse = counted(parts, {1e13})->test_at(Direction::remove, 5);
  ASSERT_TRUE(fine && coarse);
  EXPECT_THAT(fine->true_positive, Encloses(0x1p-26));
  EXPECT_THAT(fine->true_positive, IsTight(1e-10));
  EXPECT_THAT(coarse->true_positive, Encloses(0x1p-26));
  EXPECT_LT(coarse->true_positive.lo, 1e-50) << "the value was not left out";
}

// Several runs of others are composed first.
TEST(CountedAverage, AveragesACompositionOfOthers) {
  const Parts parts{{response(0.25, 3), 30}, {subsampled_gaussian(Interval::exactly(0.5), Interval::exactly(0.25)), 4}};
  const LossPointer found = counted(parts), lattice = compose_by_lattice(parts, {1e-4});
  ASSERT_NE(found, nullptr);
  for (const Direction direction : directions)
    for (const double epsilon : {0.0, 0.5, 2.0}) {
      const Interval here = found->delta(direction, Interval::exactly(epsilon));
      EXPECT_THAT(lattice->delta(direction, Interval::exactly(epsilon)), Encloses(here)) << epsilon;
      EXPECT_THAT(here, IsTight(1e-9)) << epsilon;
    }
}

// Sums of many counts on a lattice are few; a composition of others is only asked near epsilon.
TEST(CountedAverage, AgreesWithAContour) {
  const auto agrees = [](const Loss& found, const Loss& contour) {
    for (const Direction direction : directions)
      for (const double epsilon : {0.0, 0.3, 1.0, 2.0, 4.0, 6.0}) {
        const Interval here = found.delta(direction, Interval::exactly(epsilon)),
                       truth = contour.delta(direction, Interval::exactly(epsilon));
        EXPECT_LE(here.lo, truth.hi) << epsilon;
        EXPECT_GE(here.hi, truth.lo) << epsilon;
        EXPECT_LE(here.width(), 1e-7 * here.hi) << epsilon;
        EXPECT_LE(truth.width(), 1e-7 * truth.hi) << epsilon;
      }
  };
  const Parts sampled{{response(0.125, 3), 120}, {subsampled_gaussian(Interval::exactly(0.5), Interval::exactly(0.25)), 4}};
  agrees(*counted(sampled), *compose_by_hyperbolic_contour(sampled, {}));
  const Parts parts{{response(0.125, 3), 120}, {laplace(4), 3}};
  const LossPointer found = counted(parts);
  agrees(*found, *compose_by_remainder(parts));
  const auto described = evaluations_of(*found, Direction::remove, 1);
  ASSERT_EQ(described.size(), 1U);
  EXPECT_LT(described.front().counts.front().second, 400U) << "the counts of two values";
}

TEST(CountedAverage, ClaimsNothingWhereTheOthersTakeTooLong) {
  const Parts parts{{response(0.125, 3), 120}, {laplace(4), 3}};
  EXPECT_EQ(counted(parts, {.most_work = 1})->delta(Direction::remove, Interval::exactly(1)), (Interval{0, 1}));
}

TEST(CountedAverage, InvertsItsProfileAndDescribesItself) {
  const Parts parts{{sampled_guarantee(0.208, 9.69e-10, 0.00239), 2415}, {refined_zcdp(0.00177), 1}};
  const LossPointer found = counted(parts);
  for (const Direction direction : directions) {
    const auto epsilon = found->closed_epsilon(direction, Interval::exactly(1e-5));
    ASSERT_TRUE(epsilon.has_value());
    EXPECT_LT(epsilon->width(), 1e-11);
    EXPECT_GE(found->delta(direction, Interval::exactly(epsilon->lo)).hi, 1e-5);
    EXPECT_LE(found->delta(direction, Interval::exactly(epsilon->hi)).lo, 1e-5);
    const auto described = evaluations_of(*found, direction, epsilon->lo);
    ASSERT_EQ(described.size(), 1U);
    EXPECT_EQ(described.front().theorem, "averaged-counts");
    EXPECT_GT(described.front().counts.front().second, 100U);
  }
  EXPECT_EQ(found->closed_epsilon(Direction::remove, Interval::exactly(1e-12)), std::nullopt) << "less than the infinite losses";
}

}  // namespace
}  // namespace tradeoff::detail
