// SPDX-License-Identifier: Apache-2.0
#include "engine/density/density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
#include "loss/question_scope.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"

// [density-powers]
namespace tradeoff::detail {
namespace {

enum class By { poisson, fixed };

LossPointer laplace(double scale, double rate, By by = By::poisson) {
  LossPointer whole = std::make_shared<LaplaceLoss>(Interval::exactly(1 / scale));
  if (rate == 1) return whole;
  if (by == By::fixed) return std::make_shared<SampledLoss>(std::move(whole), Interval::exactly(rate));
  return std::make_shared<PoissonLoss>(std::move(whole), Interval::exactly(rate));
}

Interval log_delta(const Parts& parts, Direction direction, double epsilon, const density::Accuracy& accuracy = {}) {
  return compose_by_density_powers(parts, accuracy)->log_delta(direction, Interval::exactly(epsilon));
}

constexpr Direction directions[] = {Direction::remove, Direction::add};

// The profile of one step has a closed form.
TEST(DensityPowers, OneStepIsTheClosedForm) {
  for (const By by : {By::poisson, By::fixed})
    for (const auto& [scale, rate] : {std::pair{1.0, 1.0}, {2.0, 0.25}, {0.7, 0.05}, {0.1, 1.0}, {30.0, 0.01}})
      for (const Direction direction : directions) {
        const LossPointer step = laplace(scale, rate, by);
        const auto law = density::step_of(*step, direction);
        ASSERT_TRUE(law);
        const double largest = law->offset + law->step * static_cast<double>(law->pieces.size());
        for (const double share : {0.0, 0.1, 0.5, 0.9, 0.999}) {
          const Interval truth = step->log_delta(direction, Interval::exactly(share * largest)),
                         found = log_delta({{step, 1}}, direction, share * largest);
          EXPECT_LE(found.lo, truth.hi) << scale << ' ' << rate << ' ' << share;
          EXPECT_GE(found.hi, truth.lo) << scale << ' ' << rate << ' ' << share;
          EXPECT_LT(found.width(), 1e-8) << scale << ' ' << rate << ' ' << share;
        }
      }
}

// Two steps: E of the profile of one step, integrated with mpmath at thirty digits.
TEST(DensityPowers, TwoStepsAreTheIntegral) {
  struct Case {
    double scale, rate;
    Direction direction;
    double epsilon, delta;
  };
  for (const Case& given :
       {Case{1, 1, Direction::remove, 0.5, 0.35049598998110477769}, Case{1, 1, Direction::remove, 1.5, 0.12384911904466952322},
        Case{2, 0.25, Direction::remove, 0.2, 0.013799745246517045718}, Case{2, 0.25, Direction::add, 0.2, 0.001804547623520812165},
        Case{0.5, 0.125, Direction::remove, 0.7, 0.0094842779011932251598},
        Case{0.5, 0.125, Direction::add, 0.15, 0.036508370002073235265}}) {
    const Interval found = log_delta({{laplace(given.scale, given.rate), 2}}, given.direction, given.epsilon);
    EXPECT_LE(found.lo, std::log(given.delta) + 1e-14) << given.scale << ' ' << given.epsilon;
    EXPECT_GE(found.hi, std::log(given.delta) - 1e-14) << given.scale << ' ' << given.epsilon;
    EXPECT_LT(found.width(), 1e-9) << given.scale << ' ' << given.epsilon;
  }
}

// Another engine, which rounds every loss to a lattice.
TEST(DensityPowers, AgreesWithTheLattice) {
  struct Case {
    double scale, rate;
    By by;
    std::uint64_t times;
  };
  for (const Case& given : {Case{10, 0.1, By::poisson, 30}, Case{2, 0.05, By::fixed, 12}, Case{1, 1, By::poisson, 7}}) {
    const Parts parts{{laplace(given.scale, given.rate, given.by), given.times}};
    const LossPointer lattice = compose_by_lattice(parts, Tolerance{1e-3});
    const double deviation = given.rate / given.scale * std::sqrt(static_cast<double>(given.times));
    for (const Direction direction : directions)
      for (const double epsilon : {0.0, 2 * deviation}) {
        const Interval other = lattice->log_delta(direction, Interval::exactly(epsilon)), found = log_delta(parts, direction, epsilon);
        EXPECT_LE(found.lo, other.hi) << given.scale << ' ' << given.times << ' ' << epsilon;
        EXPECT_GE(found.hi, other.lo) << given.scale << ' ' << given.times << ' ' << epsilon;
        EXPECT_LT(found.width(), 1e-8) << given.scale << ' ' << given.times << ' ' << epsilon;
      }
  }
}

// Each term of the error budget is made so large that an answer without it would miss the truth.
TEST(DensityPowers, EveryTermOfTheBudgetIsCounted) {
  const Parts parts{{laplace(1, 0.25), 12}};
  int wide = 0;
  for (const double epsilon : {0.0, 0.4, 1.0, 1.7, 2.2}) {
    const Interval truth = log_delta(parts, Direction::remove, epsilon);
    ASSERT_LT(truth.width(), 1e-8);
    for (const double share : {0.3, 1e-2, 1e-4, 1e-6})
      for (const density::Accuracy& accuracy : {density::Accuracy{.polynomials = share}, density::Accuracy{.count = share}}) {
        const Interval found = log_delta(parts, Direction::remove, epsilon, accuracy);
        EXPECT_LE(found.lo, truth.hi) << epsilon << ' ' << share << ' ' << accuracy.count;
        EXPECT_GE(found.hi, truth.lo) << epsilon << ' ' << share << ' ' << accuracy.count;
        if (found.width() > 1e-6) ++wide;
      }
  }
  EXPECT_GT(wide, 20);
}

// Powers that were made for one epsilon may answer for another: they are as valid, only less accurate.
TEST(DensityPowers, AnyOrderIsValid) {
  const LossPointer step = laplace(1, 1);
  const auto law = density::step_of(*step, Direction::remove);
  const Parts parts{{step, 2}};
  for (const double epsilon : {0.1, 1.0, 1.9, 1.999}) {
    const Interval truth = log_delta(parts, Direction::remove, epsilon);
    for (const double order : {0.01, 0.5, 5.0, 30.0, 100.0, 1e4, 1e7}) {
      const auto powers = density::Powers::make(*law, 2, order, {});
      if (powers == nullptr) continue;  // too many cells
      const density::Powers::Value value = powers->at(epsilon);
      const double most = value.value + value.polynomials + value.rounding + value.omitted;
      EXPECT_GE((value.scale + log(Interval::exactly(most))).hi, truth.lo) << epsilon << ' ' << order;
      const double least = value.value - value.polynomials - value.rounding;
      if (!(least > 0)) continue;
      EXPECT_LE((value.scale + log(Interval::exactly(least))).lo, truth.hi) << epsilon << ' ' << order;
    }
  }
}

TEST(DensityPowers, EpsilonEncloses) {
  const Parts parts{{laplace(1, 1), 2}};
  const LossPointer loss = compose_by_density_powers(parts);
  for (const double delta : {0.3, 1e-2, 1e-5, 1e-10}) {
    const auto epsilon = loss->closed_epsilon(Direction::remove, Interval::exactly(delta));
    ASSERT_TRUE(epsilon);
    EXPECT_LT(epsilon->width(), 1e-9);
    EXPECT_GE(loss->delta(Direction::remove, Interval::exactly(epsilon->lo)).hi, delta);
    EXPECT_LE(loss->delta(Direction::remove, Interval::exactly(epsilon->hi)).lo, delta);
  }
  // both losses are the largest with probability 1/4: delta is (1 - e^(epsilon - 2))/4 near 2, and a little more
  const auto near = loss->closed_epsilon(Direction::remove, Interval::exactly(1e-5));
  EXPECT_GT(near->hi, 2 + std::log1p(-4e-5));
  EXPECT_LT(near->lo, 2);
  EXPECT_EQ(loss->closed_epsilon(Direction::remove, Interval::exactly(0.9)), Interval::exactly(0));
}

TEST(DensityPowers, RecordsWhatItDid) {
  const LossPointer loss = compose_by_density_powers({{laplace(10, 0.1), 30}});
  std::vector<Evaluation> found;
  loss->capabilities(Direction::remove).evaluable->evaluate(Direction::remove, 0.1, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().theorem, "density-powers");
  EXPECT_LT(found.front().log_delta.width(), 1e-9);
}

TEST(DensityPowers, OtherPlansAreLeftToOtherEngines) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1), {});
  EXPECT_EQ(compose_by_density_powers({{gaussian, 3}}), nullptr);
  EXPECT_EQ(compose_by_density_powers({{laplace(1, 0.1), 3}, {laplace(2, 0.1), 3}}), nullptr);
  EXPECT_EQ(compose_by_density_powers({{laplace(1, 0.1), 100000}}), nullptr);  // contours
  EXPECT_EQ(compose_by_density_powers({{laplace(0.01, 1), 2}}), nullptr);      // losses up to 100
}

}  // namespace
}  // namespace tradeoff::detail
