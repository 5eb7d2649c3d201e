// SPDX-License-Identifier: Apache-2.0
// Curves from plan texts. [membership-posterior]
#include "tradeoff/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;
using ::testing::HasSubstr;

Curve curve(const std::string& plan, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(plan), neighbours); }

std::string refusal(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)curve(plan, neighbours);
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "accepted";
}

TEST(Curve, GaussiansComposeByTheSumOfSquares) {
  EXPECT_THAT(curve("gaussian(sigma=2) | repeat(4)").delta_at(1), Encloses(curve("gdp(mu=1)").delta_at(1)));
  EXPECT_THAT(curve("gdp(3); gaussian(sigma=0.25)").epsilon_at(1e-5), Encloses(curve("gdp(5)").epsilon_at(1e-5)));
  EXPECT_THAT(curve("(gdp(3); gdp(4)) | repeat(4)").beta_at(0.01), Encloses(curve("gdp(10)").beta_at(0.01)));
  EXPECT_EQ(explained([] { return curve("gdp(mu=1)").delta_at(1); }).method, Method::closed_form);
}

TEST(Curve, AnEmptyPlanIsPerfectPrivacy) {
  for (const char* plan : {"gaussian(sigma=1, sensitivity=0)", "gaussian(1) | repeat(0)", "laplace(1) | repeat(0)",
                           "gaussian(1) | poisson(0)", "gdp(0)", "gdp(1) | sample(rate=0)"}) {
    SCOPED_TRACE(plan);
    EXPECT_EQ(curve(plan).delta_at(0), Interval::exactly(0));
    EXPECT_EQ(curve(plan).epsilon_at(0.0), Interval::exactly(0));
    EXPECT_THAT(curve(plan).beta_at(0.25), Encloses(0.75));
  }
}

TEST(Curve, SamplingEverythingIsNoSampling) {
  EXPECT_EQ(curve("gaussian(1) | poisson(1)").delta_at(0.5), curve("gaussian(1)").delta_at(0.5));
  EXPECT_EQ(curve("gaussian(1) | sample(10, 10)").delta_at(0.5), curve("gaussian(1)").delta_at(0.5));
}

TEST(Curve, NeighboursAreStatedInferredOrRefused) {
  EXPECT_EQ(curve("gaussian(1) | poisson(0.1)").neighbours(), Neighbours::add_remove);
  EXPECT_EQ(curve("gaussian(1) | sample(1, 10)").neighbours(), Neighbours::replace_one);
  EXPECT_EQ(curve("gaussian(1)").neighbours(), Neighbours::unstated);
  EXPECT_EQ(analyze(parse("gaussian(1) | poisson(0.1)"), Neighbours::replace_one).neighbours(), Neighbours::replace_one);
  EXPECT_THAT(refusal("gaussian(1) | sample(1, 10)", Neighbours::add_remove),
              HasSubstr("domain: neighbours: sample needs replace-one; you stated add-remove"));
  EXPECT_THAT(refusal("gaussian(1) | poisson(0.1); gaussian(1) | sample(1, 2)"), HasSubstr("one neighbour relation"));
}

TEST(Curve, RangesAreCheckedByName) {
  EXPECT_THAT(refusal("gaussian(sigma=0)"), HasSubstr("domain: gaussian: sigma = 0 is not allowed; it must be above 0"));
  EXPECT_THAT(refusal("gaussian(sigma=-1)"), HasSubstr("sigma = -1"));
  EXPECT_THAT(refusal("laplace(1, sensitivity=-2)"), HasSubstr("sensitivity = -2"));
  EXPECT_THAT(refusal("gaussian(1) | poisson(1.5)"), HasSubstr("rate = 1.5"));
  EXPECT_THAT(refusal("gaussian(1) | sample(11, 10)"), HasSubstr("size = 11"));
  EXPECT_THAT(refusal("gaussian(1) | repeat(1e18)"), HasSubstr("too_large: repeat: times = "));
  EXPECT_THAT(refusal("(gaussian(1) | repeat(1e9)) | repeat(1e9)"), HasSubstr("too_large"));
  EXPECT_THAT(refusal("gaussian(sigma=?)"), HasSubstr("can only be calibrated"));
  EXPECT_THAT(refusal("randomized_response(1, choices=1)"), HasSubstr("choices = 1"));
}

TEST(Curve, QuestionsCheckTheirArguments) {
  const Curve plan = curve("gdp(1)");
  EXPECT_THROW((void)plan.epsilon_at(1.5), DomainError);
  EXPECT_THROW((void)plan.epsilon_at(-0.1), DomainError);
  EXPECT_THROW((void)plan.beta_at(2), DomainError);
  EXPECT_THROW((void)plan.delta_at(std::numeric_limits<double>::quiet_NaN()), DomainError);
  EXPECT_THROW((void)plan.posterior_at(Interval::exactly(0)), DomainError);
  EXPECT_EQ(plan.delta_at(std::numeric_limits<double>::infinity()), Interval::exactly(0));
  EXPECT_EQ(plan.epsilon_at(1.0), Interval::exactly(0));
  EXPECT_EQ(plan.epsilon_at(0.0).hi, std::numeric_limits<double>::infinity());
}

TEST(Curve, TinyDeltasComeInLogarithms) {
  const Curve plan = curve("gaussian(sigma=1)");
  const Interval log_delta = plan.log_delta_at(Interval::exactly(100));
  EXPECT_THAT(log_delta, IsTight(1e-12));
  EXPECT_LT(log_delta.hi, -4900);
  EXPECT_LT(plan.delta_at(100).hi, 1e-300);
}

TEST(Curve, PosteriorOfTheMembershipGuess) {
  // Randomised response with e^eps = 3: at prior 1/2 the best guess is right with probability 3/4, and so is the posterior.
  const Posterior fair = curve("randomized_response(epsilon=1.0986122886681098)").posterior_at(Interval::exactly(0.5));
  EXPECT_NEAR(fair.accuracy.hi, 0.75, 1e-12);
  EXPECT_NEAR(fair.largest.hi, 0.75, 1e-12);
  // A Gaussian can make an attacker certain, with small probability.
  const Posterior gaussian = curve("gdp(1)").posterior_at(Interval::exactly(0.1));
  EXPECT_EQ(gaussian.largest.hi, 1);
  EXPECT_GE(gaussian.accuracy.lo, 0.9 - 1e-12);
  EXPECT_LT(gaussian.accuracy.hi, 0.92);
}

// [membership-posterior] A negligible delta is bounded, not computed; the accuracy still encloses 1 - p + p delta(log((1 - p) / p)).
TEST(Curve, AccuracyAtRarePriorsEnclosesItsFormula) {
  for (const double noise : {0.3, 0.5, 0.52, 1.0, 3.0})
    for (const double prior : {0.01, 0.1, 0.25, 0.5}) {
      const Curve plan = curve("gaussian(sigma=" + std::to_string(noise) + ")");
      const Interval delta = plan.delta_at(std::log((1 - prior) / prior));
      const Interval accuracy = plan.posterior_at(prior).accuracy;
      EXPECT_LE(accuracy.lo, 1 - prior + prior * delta.lo + 1e-13) << noise << " " << prior;
      EXPECT_GE(accuracy.hi, 1 - prior + prior * delta.hi - 1e-13) << noise << " " << prior;
      EXPECT_LT(accuracy.hi - accuracy.lo, 1e-12) << noise << " " << prior;
    }
  const Posterior far = curve("gaussian(sigma=9) | poisson(rate=0.001) | repeat(500)").posterior_at(0.01);
  EXPECT_NEAR(far.accuracy.lo, 0.99, 1e-14);
  EXPECT_NEAR(far.accuracy.hi, 0.99, 1e-14);
}

TEST(Curve, DirectionsOfASampledStepDifferAndTheWorstIsTheLarger) {
  const Curve plan = curve("gaussian(1) | poisson(0.01)");
  for (const double epsilon : {0.0, 0.1, 1.0}) {
    const Interval at = Interval::exactly(epsilon);
    const double larger = std::max(plan.delta_at(at, Direction::remove).hi, plan.delta_at(at, Direction::add).hi);
    EXPECT_EQ(plan.delta_at(at).hi, larger);
  }
  EXPECT_GT(plan.delta_at(Interval::exactly(0.1), Direction::remove).lo, plan.delta_at(Interval::exactly(0.1), Direction::add).hi);
}

// [two-directions] Composed, the add direction can be the worse one: at two subsampled responses it is, for delta and for epsilon.
TEST(Curve, TheWorstEpsilonIsThatOfEitherDirection) {
  const Curve curve = analyze(parse("randomized_response(epsilon=2) | poisson(rate=0.8) | repeat(2)"));
  const Interval delta = Interval::exactly(0.6);
  const Interval worst = curve.epsilon_at(delta), add = curve.epsilon_at(delta, Direction::add);
  EXPECT_GT(add.lo, curve.epsilon_at(delta, Direction::remove).hi);
  EXPECT_GE(worst.hi, add.hi);
  EXPECT_GE(worst.lo, add.lo);
}

TEST(Curve, AnswersAStatedGuaranteeWithTheGuarantee) {
  const Curve curve = analyze(parse("constraints([(1, 1e-9), (0.5, 1e-6), (0.25, 1/3)])"));
  EXPECT_EQ(curve.epsilon_at(read_number("1e-9")).hi, 1);
  EXPECT_EQ(curve.epsilon_at(read_number("0.99999999999999999999e-9")).hi, HUGE_VAL);
  EXPECT_TRUE(curve.states(read_number("0.5"), read_number("0.000001")));
  EXPECT_FALSE(curve.states(read_number("0.5"), read_number("0.00000099999999999999999999")));
  EXPECT_FALSE(analyze(parse("dp(1, 1e-5) | repeat(2)")).states(read_number("1"), read_number("1e-5")));
}

// e^900 is not a double. After sampling the loss is 900 + log(rate) and delta is rate (1 - e^(epsilon - log(rate) - 900)).
TEST(Curve, SamplesLossesWhoseExponentialOverflows) {
  for (const char* plan :
       {"dp(900) | poisson(rate=0.1)", "dp(900) | sample(rate=0.1)", "randomized_response(epsilon=900) | sample(rate=0.1)"}) {
    const Curve curve = analyze(parse(plan));
    for (const double epsilon : {700.0, 897.0, 899.0}) {
      const double truth = -0.1 * std::expm1(std::min(0.0, epsilon + std::log(10) - 900));
      const Interval delta = curve.delta_at(epsilon);
      EXPECT_LE(delta.lo, truth * (1 + 1e-12)) << plan << " at " << epsilon;
      EXPECT_GE(delta.hi, truth * (1 - 1e-12)) << plan << " at " << epsilon;
      EXPECT_LE(delta.hi, truth * (1 + 1e-6)) << plan << " at " << epsilon;
    }
    EXPECT_EQ(analyze(parse(std::string(plan) + " | repeat(3)")).delta_at(2700).hi, 0);
  }
}

}  // namespace
}  // namespace tradeoff::detail
