// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/remainder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <utility>

#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
#include "loss/transform.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/iterated_loss.h"
#include "operators/refine.h"
#include "operators/subsampled.h"

// [contour-remainder]
namespace tradeoff::detail {
namespace {

enum class By { poisson, fixed };

LossPointer laplace(double scale, double rate, By by = By::poisson) {
  LossPointer whole = std::make_shared<LaplaceLoss>(Interval::exactly(1 / scale));
  if (rate == 1) return whole;
  if (by == By::fixed) return std::make_shared<SampledLoss>(std::move(whole), Interval::exactly(rate));
  return std::make_shared<PoissonLoss>(std::move(whole), Interval::exactly(rate));
}

Interval log_delta(const Parts& parts, Direction direction, double epsilon, const RemainderAccuracy& accuracy = {}) {
  return compose_by_remainder(parts, accuracy)->log_delta(direction, Interval::exactly(epsilon));
}

constexpr Direction directions[] = {Direction::remove, Direction::add};

// Two steps: the profile of one, integrated over the law of the other with mpmath at thirty digits.
TEST(ContourRemainder, TwoStepsAreTheIntegral) {
  struct Case {
    Parts parts;
    Direction direction;
    double epsilon, delta;
  };
  const Parts equal{{laplace(1, 1), 2}}, quarter{{laplace(2, 0.25), 2}}, distinct{{laplace(1, 0.25), 1}, {laplace(2, 0.5), 1}};
  for (const Case& given :
       {Case{equal, Direction::remove, 0.5, 0.35049598998110477769}, Case{equal, Direction::remove, 1.5, 0.12384911904466952322},
        Case{quarter, Direction::remove, 0.2, 0.013799745246517045718}, Case{quarter, Direction::add, 0.2, 0.001804547623520812165},
        Case{distinct, Direction::remove, 0.05, 0.11005191970959717712}, Case{distinct, Direction::remove, 0.2, 0.059100162319754554042},
        Case{distinct, Direction::remove, 0.4, 0.02821222799330053144}, Case{distinct, Direction::add, 0.05, 0.11584329095528096462},
        Case{distinct, Direction::add, 0.2, 0.060641966221842669467}}) {
    const Interval found = log_delta(given.parts, given.direction, given.epsilon);
    EXPECT_LE(found.lo, std::log(given.delta) + 1e-14) << given.epsilon;
    EXPECT_GE(found.hi, std::log(given.delta) - 1e-14) << given.epsilon;
    EXPECT_LT(found.width(), 1e-8) << given.epsilon;
  }
  EXPECT_EQ(log_delta(distinct, Direction::add, 0.4), Interval::exactly(-infinity));  // beyond the largest losses
}

// Another engine, which rounds every loss to a lattice.
TEST(ContourRemainder, AgreesWithTheLattice) {
  const LossPointer group = iterated_loss(laplace(7.2, 0.126, By::fixed), 3), zcdp = refine(zcdp_bound(Interval::exactly(0.05))),
                    response = randomized_response(Interval::exactly(0.5), 4);
  ASSERT_NE(group, nullptr);
  for (const Parts& parts : {Parts{{laplace(1, 0.1), 2}, {laplace(2, 0.1), 1}}, Parts{{laplace(3, 0.2, By::fixed), 12}}, Parts{{group, 11}},
                             Parts{{laplace(20.8, 1), 18}, {zcdp, 1}}, Parts{{laplace(2, 0.25), 3}, {response, 4}}}) {
    const LossPointer lattice = compose_by_lattice(parts, Tolerance{1e-3});
    for (const Direction direction : directions)
      for (const double epsilon : {0.0, 0.1}) {
        const Interval other = lattice->log_delta(direction, Interval::exactly(epsilon)), found = log_delta(parts, direction, epsilon);
        EXPECT_LE(found.lo, other.hi) << parts.size() << ' ' << parts.front().times << ' ' << epsilon;
        EXPECT_GE(found.hi, other.lo) << parts.size() << ' ' << parts.front().times << ' ' << epsilon;
        EXPECT_LT(found.width(), 1e-6) << parts.size() << ' ' << parts.front().times << ' ' << epsilon;
      }
  }
}

// Each term of the error budget is made so large that an answer without it would miss the truth.
TEST(ContourRemainder, EveryTermOfTheBudgetIsCounted) {
  const Parts parts{{laplace(1, 0.25), 6}, {laplace(2, 0.5), 4}};
  int wide = 0;
  for (const double epsilon : {0.0, 0.3, 0.9, 1.5}) {
    const Interval truth = log_delta(parts, Direction::remove, epsilon);
    ASSERT_LT(truth.width(), 1e-8);
    for (const double share : {0.3, 1e-2, 1e-4, 1e-6})
      for (const RemainderAccuracy& accuracy : {RemainderAccuracy{.alias = share}, RemainderAccuracy{.truncation = share}}) {
        const Interval found = log_delta(parts, Direction::remove, epsilon, accuracy);
        EXPECT_LE(found.lo, truth.hi) << epsilon << ' ' << share << ' ' << accuracy.alias;
        EXPECT_GE(found.hi, truth.lo) << epsilon << ' ' << share << ' ' << accuracy.alias;
        if (found.width() > 1e-6) ++wide;
      }
  }
  EXPECT_GT(wide, 10);
}

// The profile is linear in e^epsilon but at losses, where its second difference is the mass of the atom.
TEST(ContourRemainder, AtomsAreThoseOfTheLaw) {
  for (const LossPointer& loss : {laplace(1, 1), laplace(2, 0.25), laplace(2, 0.25, By::fixed),
                                  iterated_loss(laplace(2, 0.25, By::fixed), 2), iterated_loss(laplace(7.2, 0.126, By::fixed), 4)})
    for (const Direction direction : directions) {
      ASSERT_NE(loss, nullptr);
      const Transform* const transform = loss->transform(direction);
      ASSERT_NE(transform, nullptr);
      ASSERT_FALSE(transform->atoms().empty());
      double total = 0;
      for (const Atom& atom : transform->atoms()) {
        constexpr double h = 1e-5;
        const double place = middle_of(atom.loss);
        const auto delta = [&](double e) { return middle_of(loss->delta(direction, Interval::exactly(e))); };
        double mass = 0;  // atoms at the same loss are listed apart
        for (const Atom& other : transform->atoms())
          if (std::abs(middle_of(other.loss) - place) < h) mass += middle_of(other.mass);
        EXPECT_NEAR((delta(place - h) - 2 * delta(place) + delta(place + h)) / h, mass, 2e-4) << place;
        total += middle_of(atom.mass);
      }
      EXPECT_LT(total, 1);
    }
}

// Without the atoms, the transform of the tilted law falls like 1/t.
TEST(ContourRemainder, TheDensityDecays) {
  for (const LossPointer& loss :
       {laplace(1, 1), laplace(2, 0.25), laplace(2, 0.25, By::fixed), iterated_loss(laplace(2, 0.25, By::fixed), 2)})
    for (const Direction direction : directions)
      for (const double order : {0.5, 4.0}) {
        ASSERT_NE(loss, nullptr);
        const Transform* const transform = loss->transform(direction);
        const auto moments = transform->prepare({0, 3 * order, 2, 0, false, order, 600});
        ASSERT_NE(moments, nullptr);
        const auto tilt = moments->tilt(order);
        const Decay decay = tilt->decay(0.1);
        for (const double t : {3.0, 30.0, 300.0}) {
          CharacteristicValue value;
          tilt->characteristic_function({&t, 1}, {&value, 1});
          std::complex<double> density(1 + value.real_less_one, value.imaginary);
          for (const Atom& atom : transform->atoms())
            density -= std::polar(middle_of(atom.mass) * std::exp(order * middle_of(atom.loss) - middle_of(tilt->log_moment())),
                                  t * (middle_of(atom.loss) - tilt->centre()));
          EXPECT_LE(std::abs(density), decay.rest + decay.variation / t + 1e-11) << order << ' ' << t;
          EXPECT_LT(decay.rest, 1e-6);
        }
      }
}

TEST(ContourRemainder, EpsilonEncloses) {
  const Parts parts{{laplace(1, 0.25), 2}, {laplace(2, 0.5), 1}};
  const LossPointer loss = compose_by_remainder(parts);
  for (const double delta : {0.1, 1e-2, 1e-5, 1e-10})
    for (const Direction direction : directions) {
      const auto epsilon = loss->closed_epsilon(direction, Interval::exactly(delta));
      ASSERT_TRUE(epsilon);
      EXPECT_LT(epsilon->width(), 1e-7);
      EXPECT_GE(loss->delta(direction, Interval::exactly(epsilon->lo)).hi, delta);
      EXPECT_LE(loss->delta(direction, Interval::exactly(epsilon->hi)).lo, delta);
    }
  EXPECT_EQ(loss->closed_epsilon(Direction::remove, Interval::exactly(0.9)), Interval::exactly(0));
}

TEST(ContourRemainder, RecordsWhatItDid) {
  const LossPointer loss = compose_by_remainder({{laplace(1, 0.25), 2}, {laplace(2, 0.5), 1}});
  std::vector<Evaluation> found;
  loss->capabilities(Direction::remove).evaluable->evaluate(Direction::remove, 0.1, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().theorem, "contour-remainder");
  EXPECT_LT(found.front().log_delta.width(), 1e-8);
}

TEST(ContourRemainder, OtherPlansAreLeftToOtherEngines) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1), {});
  EXPECT_EQ(compose_by_remainder({{laplace(1, 0.1), 3}, {gaussian, 1}}), nullptr);
  EXPECT_EQ(compose_by_remainder({{laplace(1, 0.1), 1}}), nullptr);       // one step
  EXPECT_EQ(compose_by_remainder({{laplace(1, 0.1), 100000}}), nullptr);  // contours
  EXPECT_EQ(losses_from_densities({{gaussian, 3}}), std::nullopt);
  EXPECT_NEAR(*losses_from_densities({{laplace(1, 1), 10}}), 10 * 0.5 * (1 - std::exp(-1.0)), 1e-12);
}

}  // namespace
}  // namespace tradeoff::detail
