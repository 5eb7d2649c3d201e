// SPDX-License-Identifier: Apache-2.0
#include "operators/algebra.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/disclosure.h"
#include "engine/exact/exact.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "numeric/arithmetic.h"
#include "operators/mixture.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// [curve-algebra] Losses made of losses, evaluated directly.
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

LossPointer lopsided_pair() {
  return pair_loss({Interval::exactly(0.5), Interval::exactly(0.375), Interval::exactly(0.125)},
                   {Interval::exactly(0.25), Interval::exactly(0.25), Interval::exactly(0.5)});
}

void expect_same_test(const std::optional<Loss::Test>& one, const std::optional<Loss::Test>& other) {
  ASSERT_EQ(one.has_value(), other.has_value());
  if (!one) return;
  EXPECT_EQ(one->false_positive, other->false_positive);
  EXPECT_EQ(one->true_positive, other->true_positive);
}

void expect_same_guarantees(const std::optional<std::vector<Guarantee>>& one, const std::optional<std::vector<Guarantee>>& other) {
  ASSERT_EQ(one.has_value(), other.has_value());
  if (!one) return;
  ASSERT_EQ(one->size(), other->size());
  for (std::size_t i = 0; i < one->size(); ++i) {
    EXPECT_EQ((*one)[i].epsilon, (*other)[i].epsilon);
    EXPECT_EQ((*one)[i].delta, (*other)[i].delta);
  }
}

// The swapped pair answers what the pair answers in the other direction.
TEST(CurveAlgebra, TheInverseIsTheOtherDirection) {
  const std::vector<LossPointer> bases{lopsided_pair(), subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.1)),
                                       compose_exactly({{lopsided_pair(), 3}}, {})};
  for (const LossPointer& base : bases) {
    const LossPointer inverse = inverse_loss(base);
    EXPECT_FALSE(inverse->symmetric());
    EXPECT_NE(base->log_delta(Direction::add, Interval::exactly(0.3)), base->log_delta(Direction::remove, Interval::exactly(0.3)))
        << "nothing to see";
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const Direction other = opposite(direction);
      for (const double epsilon : {-0.4, 0.0, 0.3}) {
        EXPECT_EQ(inverse->delta(direction, Interval::exactly(epsilon)), base->delta(other, Interval::exactly(epsilon)));
        EXPECT_EQ(inverse->log_delta(direction, Interval::exactly(epsilon)), base->log_delta(other, Interval::exactly(epsilon)));
        EXPECT_EQ(inverse->rough_delta(direction, epsilon), base->rough_delta(other, epsilon));
        expect_same_test(inverse->test_at(direction, epsilon), base->test_at(other, epsilon));
      }
      EXPECT_EQ(inverse->closed_epsilon(direction, Interval::exactly(0.01)), base->closed_epsilon(other, Interval::exactly(0.01)));
      EXPECT_EQ(inverse->closed_beta(direction, Interval::exactly(0.1)), base->closed_beta(other, Interval::exactly(0.1)));
      EXPECT_TRUE(std::ranges::equal(inverse->corners(direction), base->corners(other)));
      EXPECT_EQ(inverse->atoms(direction), base->atoms(other));
      EXPECT_EQ(inverse->transform(direction), base->transform(other));
      EXPECT_EQ(inverse->break_points(direction, ParameterEnd::worse), base->break_points(other, ParameterEnd::worse));
      EXPECT_EQ(inverse->infinite_mass(direction), base->infinite_mass(other));
      expect_same_guarantees(inverse->guarantees(direction), base->guarantees(other));
    }
  }
}

TEST(CurveAlgebra, TheWeakestHasTheLargerLogarithm) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(0.1)), laplace = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  const LossPointer weakest = weakest_loss({gaussian, laplace});
  EXPECT_EQ(weakest->log_delta(Direction::remove, Interval::exactly(0.5)), laplace->log_delta(Direction::remove, Interval::exactly(0.5)));
  const Interval far =
      // Laplace has delta 0 there, and the delta of the Gaussian is below the range of doubles
      weakest->log_delta(Direction::remove, Interval::exactly(5));
  EXPECT_EQ(far, gaussian->log_delta(Direction::remove, Interval::exactly(5)));
  EXPECT_LT(far.hi, -1000);
  // The Gaussian has no largest loss; a mu that covers both covers the weakest.
  EXPECT_EQ(weakest->tail().zero_from, infinity);
  EXPECT_EQ(weakest->tail().gdp_mu, std::max(gaussian->tail().gdp_mu, laplace->tail().gdp_mu));
  EXPECT_EQ(weakest_loss({laplace, std::make_shared<LaplaceLoss>(Interval::exactly(2))})->tail().zero_from, 2);
}

// Without atoms the symmetric pair is the worse direction at every epsilon.
TEST(CurveAlgebra, TheSymmetricPairIsTheWorseDirection) {
  const LossPointer base = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.1)), symmetric = symmetric_loss(base);
  EXPECT_TRUE(symmetric->symmetric());
  for (const double epsilon : {0.0, 0.1, 1.0})
    EXPECT_THAT(
        symmetric->delta(Direction::add, Interval::exactly(epsilon)),
        Encloses(max(base->delta(Direction::add, Interval::exactly(epsilon)), base->delta(Direction::remove, Interval::exactly(epsilon)))));
}

// If neither of two profiles becomes 0 or has an infinite mass, it is unknown which one falls further, and no limit is claimed.
TEST(CurveAlgebra, TheHullOfTwoEndlessProfilesClaimsNoLimit) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(0.5)),
                    sampled = symmetric_loss(subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.1)));
  const LossPointer strongest = strongest_loss({gaussian, sampled});
  const Tail tail = strongest->tail();
  EXPECT_EQ(tail.limit, (Interval{0, Tail::nothing}));
  for (const double epsilon : {0.0, 0.2, 1.0, 3.0}) {
    const Interval least =
        min(gaussian->delta(Direction::remove, Interval::exactly(epsilon)), sampled->delta(Direction::remove, Interval::exactly(epsilon)));
    EXPECT_LE(strongest->delta(Direction::remove, Interval::exactly(epsilon)).lo, least.hi) << epsilon;
  }
}

/// P(L > e) - e^e Q(L > e) is delta(e).
void expect_test_attains_delta(const Loss& loss, Direction direction, double epsilon) {
  const auto test = loss.test_at(direction, epsilon);
  ASSERT_TRUE(test.has_value());
  const Interval gain = test->true_positive - exp(Interval::exactly(epsilon)) * test->false_positive;
  const Interval delta = loss.delta(direction, Interval::exactly(epsilon));
  EXPECT_TRUE(gain.lo <= delta.hi && delta.lo <= gain.hi) << epsilon;
  EXPECT_LT(gain.width(), 1e-12) << epsilon;
}

TEST(CurveAlgebra, TestsOfMixturesAndRevealingLossesAttainDelta) {
  const LossPointer sampled = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.1));
  const LossPointer mixture =
      mixture_loss({{Interval::exactly(0.25), gaussian_loss(Interval::exactly(1))}, {Interval::exactly(0.75), sampled}});
  const LossPointer revealing = disclosure_loss(sampled, Interval::exactly(0.01));
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double epsilon : {-0.02, 0.0, 0.05, 1.0}) {
      expect_test_attains_delta(*mixture, direction, epsilon);
      expect_test_attains_delta(*revealing, direction, epsilon);
    }
  const LossPointer unknown = strongest_loss({gaussian_loss(Interval::exactly(0.5)), symmetric_loss(sampled)});
  EXPECT_FALSE(disclosure_loss(unknown, Interval::exactly(0.01))->test_at(Direction::remove, 1).has_value());
}

}  // namespace
}  // namespace tradeoff::detail
