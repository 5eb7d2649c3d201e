// SPDX-License-Identifier: Apache-2.0
// [largest-loss]
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "curve/curve_state.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/operations.h"
#include "tradeoff/provenance.h"
#include "tradeoff/targets.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

Interval pure_epsilon(const std::string& plan, Direction direction = Direction::worst) {
  return analyze(parse(plan)).epsilon_at(Interval::exactly(0), direction);
}

TEST(LargestLoss, PureGuaranteesAddUp) {
  EXPECT_THAT(pure_epsilon("laplace(scale=20) | repeat(50)"), AllOf(Encloses("2.5"), IsTight(1e-12)));
  EXPECT_THAT(pure_epsilon("discrete_laplace(scale=5.15) | repeat(1410)"),
              AllOf(Encloses("273.7864077669902912621359223"), IsTight(1e-10)));
  EXPECT_THAT(pure_epsilon("laplace(scale=2) | repeat(3); randomized_response(epsilon=0.5) | repeat(4)"),
              AllOf(Encloses("3.5"), IsTight(1e-12)));
}

/// The exact number, or "none".
std::string exact_epsilon(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  const auto found = analyze(parse(plan), neighbours).pure_epsilon();
  return found ? found->text : "none";
}

// Losses whose sums or products are beyond all doubles: an engine that meets them must not answer 0.
TEST(LargestLoss, BeyondDoubles) {
  constexpr double largest = std::numeric_limits<double>::max();
  for (const char* plan :
       {"laplace(scale=1e-308) | repeat(10)", "laplace(scale=1e-308) | group(3) | repeat(4)", "dp(epsilon=1e308) | repeat(100)",
        "randomized_response(epsilon=1e308) | repeat(10)", "gaussian(sigma=1e-160)"}) {
    const Curve curve = analyze(parse(plan));
    EXPECT_EQ(curve.epsilon_at(1e-5).hi, infinity) << plan;
    EXPECT_EQ(curve.epsilon_at(0).hi, infinity) << plan;
    EXPECT_GE(curve.delta_at(1).hi, 1 - 1e-9) << plan;
  }
  EXPECT_GE(analyze(parse("laplace(scale=1e-308) | repeat(10)")).epsilon_at(0).lo, largest);
  const Interval ordered = analyze(parse("exponential(epsilon=1e308) | repeat(3)")).epsilon_at(1e-5);
  EXPECT_LE(ordered.lo, ordered.hi);
  // Ten steps cost at least one: about mu^2/2.
  for (const char* sigma : {"1e-20", "1e-80", "1e-150"}) {
    const std::string step = "gaussian(sigma=" + std::string(sigma) + ") | poisson(rate=0.1)";
    const Interval one = analyze(parse(step)).epsilon_at(1e-5), ten = analyze(parse(step + " | repeat(10)")).epsilon_at(1e-5);
    EXPECT_GE(ten.hi, one.lo) << sigma;
    EXPECT_LT(ten.hi, infinity) << sigma;
  }
}

// The steepest parts of a list of tiny losses are hidden by rounding.
TEST(LargestLoss, BoundsRatesOfTinyLosses) {
  const Interval rate = analyze(parse("dp(epsilon=7.824e-8) | group(2) | repeat(13)")).tpr_at(1e-3);
  EXPECT_LE(rate.hi, 1e-3 * std::exp(26 * 7.824e-8) * (1 + 1e-12));
  EXPECT_GE(rate.hi, 1e-3);
  EXPECT_LE(rate.lo, rate.hi);
}

TEST(LargestLoss, IsAddedInExactArithmetic) {
  EXPECT_EQ(exact_epsilon("laplace(scale=20) | repeat(50)"), "2.5");
  EXPECT_EQ(exact_epsilon("laplace(scale=10) | repeat(3)"), "0.3");
  EXPECT_EQ(exact_epsilon("laplace(scale=10) | repeat(3)", Neighbours::replace_one), "0.3");
  EXPECT_EQ(exact_epsilon("laplace(scale=3, sensitivity=0.1)"), "1/30");
  EXPECT_EQ(exact_epsilon("discrete_laplace(scale=5.15) | repeat(1410)"), "28200/103");
  EXPECT_EQ(exact_epsilon("discrete_laplace(scale=0.7, sensitivity=7) | group(2)"), "20");
  EXPECT_EQ(exact_epsilon("randomized_response(epsilon=0.1, choices=5) | repeat(3); dp(epsilon=0.2)"), "0.5");
  EXPECT_EQ(exact_epsilon("(laplace(scale=20) | repeat(5); dp(epsilon=1/3)) | group(3) | repeat(2)"), "3.5");
  EXPECT_EQ(exact_epsilon("constraints([(2, 0), (0.7, 0), (0.1, 1e-5)])"), "0.7");
  EXPECT_EQ(exact_epsilon("strongest([laplace(scale=1), dp(epsilon=0.9)]) | repeat(2)"), "1.8");
  EXPECT_EQ(exact_epsilon("weakest([laplace(scale=1), dp(epsilon=0.9)]) | repeat(2)"), "2");
  EXPECT_EQ(exact_epsilon("mixture([(0.3, laplace(scale=1)), (0.7, dp(epsilon=0.3))]) | repeat(3)"), "3");
  EXPECT_EQ(exact_epsilon("laplace(scale=20) | repeat(0)"), "0");
  EXPECT_EQ(exact_epsilon("dp(epsilon=0)"), "0");
}

TEST(LargestLoss, IsNoExactNumberOfOtherPlans) {
  for (const char* plan :
       {"gaussian(sigma=1)", "dp(epsilon=1, delta=1e-9)", "dp(epsilon=1, delta=1e-400)", "constraints([(1, 1e-5)])",
        "laplace(scale=1) | poisson(rate=0.1)", "laplace(scale=1) | sample(rate=0.5)", "laplace(scale=1); gaussian(sigma=3)",
        "truncated_laplace(scale=1, bound=3)", "pair(p=[0.5,0.5],q=[0.2,0.8])", "laplace(scale=1e-30, sensitivity=1e-69)",
        "mixture([(0.3, laplace(scale=1)), (0.7, gaussian(sigma=3))])", "strongest([laplace(scale=1), gaussian(sigma=1)])"})
    EXPECT_EQ(exact_epsilon(plan), "none") << plan;
}

// The exact number lies in the interval that the losses give, and is at least as narrow.
TEST(LargestLoss, ExactNumberAgreesWithTheLosses) {
  for (const char* plan : {"laplace(scale=0.7) | repeat(3)", "laplace(scale=0.3) | repeat(5) | group(2)",
                           "discrete_laplace(scale=3) | group(3)", "randomized_response(epsilon=0.7, choices=7) | group(2) | repeat(3)",
                           "dp(epsilon=0.3) | group(2); laplace(scale=3)", "constraints([(0.7, 0), (0.1, 0.01)]) | repeat(2)"}) {
    const Curve curve = analyze(parse(plan));
    const Interval exact = curve.epsilon_at(0);
    const Interval by_losses = loss_of(curve)->tail().largest.worse();
    EXPECT_EQ(exact, curve.pure_epsilon()->value) << plan;
    EXPECT_TRUE(by_losses.lo <= exact.hi && exact.lo <= by_losses.hi) << plan;
    EXPECT_LE(exact.width(), by_losses.width() + 1e-15) << plan;
  }
}

TEST(LargestLoss, ComparesEqualWhereItIsEqual) {
  const auto verdict = [](const std::string& plan, const std::string& epsilon) {
    const Number budget = read_number(epsilon), delta = read_number("0");
    return check(analyze(parse(plan)), budget, delta).within;
  };
  EXPECT_EQ(verdict("laplace(scale=20) | repeat(50)", "2.5"), Met::yes);
  EXPECT_EQ(verdict("laplace(scale=10) | repeat(3)", "0.3"), Met::yes);
  EXPECT_EQ(verdict("laplace(scale=10) | repeat(3)", "3/10"), Met::yes);
  EXPECT_EQ(verdict("randomized_response(epsilon=0.1) | repeat(3)", "0.29999999999999999999"), Met::no);
  EXPECT_EQ(verdict("laplace(scale=10) | repeat(3)", "0.30000000000000000001"), Met::yes);
  EXPECT_EQ(verdict("discrete_laplace(scale=5.15) | repeat(1410)", "1410/5.15"), Met::yes);
  EXPECT_EQ(verdict("discrete_laplace(scale=5.15) | repeat(1410)", "1409.999999999999999/5.15"), Met::no);
  const Curve curve = analyze(parse("laplace(scale=10) | repeat(3)"));
  const Number equal = read_number("0.3");
  EXPECT_EQ(curve.delta_at(equal), Interval::exactly(0));
  EXPECT_EQ(curve.log_delta_at(equal), Interval::exactly(-infinity));
  EXPECT_TRUE(curve.states(equal, read_number("0")));
  EXPECT_FALSE(curve.states(read_number("0.299"), read_number("0")));
}

TEST(LargestLoss, IsExactInPosteriorsAndExtensions) {
  const Curve curve = analyze(parse("laplace(scale=20) | repeat(50)"));
  EXPECT_THAT(curve.posterior_at(0.5).largest, AllOf(Encloses("0.9241418199787565"), IsTight(1e-14)));
  const Curve longer = extend(curve, parse("dp(epsilon=0.1)"));
  ASSERT_TRUE(longer.pure_epsilon());
  EXPECT_EQ(longer.pure_epsilon()->text, "2.6");
  EXPECT_EQ(extend(curve, parse("gaussian(sigma=1)")).pure_epsilon(), std::nullopt);
}

TEST(LargestLoss, NamesTheTheoremOfTheExactSum) {
  const auto found = explained([] { return analyze(parse("laplace(scale=20) | repeat(50)")).epsilon_at(0); });
  EXPECT_EQ(found.value, Interval::exactly(2.5));
  EXPECT_EQ(found.steps.back().theorem, "largest-loss");
  EXPECT_EQ(found.steps.back().detail, "the largest losses of the plan are added in exact arithmetic");
}

TEST(LargestLoss, OfSampledLaplace) {
  EXPECT_THAT(pure_epsilon("laplace(scale=10) | poisson(rate=0.1) | repeat(30)"),
              AllOf(Encloses("0.3138651578061553593270030807"), IsTight(1e-12)));
  EXPECT_THAT(pure_epsilon("laplace(scale=10) | poisson(rate=0.1) | repeat(30)", Direction::add),
              AllOf(Encloses("0.2868548132666976027223325984"), IsTight(1e-12)));
  EXPECT_THAT(pure_epsilon("laplace(scale=10) | sample(rate=0.1) | repeat(30)"),
              AllOf(Encloses("0.3138651578061553593270030807"), IsTight(1e-12)));
}

// Each line is worse in another direction: the sum of the worse ones is a bound that is not attained.
TEST(LargestLoss, IsAddedByDirection) {
  const std::string plan = "pair(p=[0.5,0.5],q=[0.2,0.8]); pair(p=[0.2,0.8],q=[0.5,0.5])";
  const Interval found = analyze(parse(plan), Neighbours::add_remove).epsilon_at(Interval::exactly(0));
  EXPECT_THAT(found, AllOf(Encloses("1.386294361119890618834464243"), IsTight(1e-12)));
}

// Delta is 0 from the largest loss on and positive before it; unbounded losses have no pure guarantee.
TEST(LargestLoss, AgreesWithTheProfile) {
  for (const char* text :
       {"laplace(scale=20) | repeat(50)", "laplace(scale=10) | poisson(rate=0.1) | repeat(30)",
        "mixture([(0.3, laplace(scale=1)), (0.7, randomized_response(epsilon=0.5))]) | repeat(3)",
        "strongest([laplace(scale=1), dp(epsilon=0.9)]) | repeat(2)", "laplace(scale=1) | group(2)",
        "weakest([laplace(scale=1), dp(epsilon=1.5)])", "laplace(scale=2) | rectify(epsilon=2, low=0, high=1)",
        "pair(p=[0.1,0.9],q=[0.4,0.6]) | invert()", "pair(p=[0.1,0.6,0.3],q=[0.2,0.2,0.6]) | poisson(rate=0.3) | repeat(2)"}) {
    const Curve curve = analyze(parse(text), Neighbours::unstated);
    for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
      const Interval epsilon = curve.epsilon_at(Interval::exactly(0), direction);
      ASSERT_LT(epsilon.hi, 100) << text;
      EXPECT_EQ(curve.delta_at(Interval::exactly(epsilon.hi), direction).lo, 0) << text;
      EXPECT_TRUE(epsilon.lo == 0 || curve.delta_at(Interval::exactly(epsilon.lo * 0.98), direction).hi > 0) << text;
      EXPECT_EQ(curve.delta_at(Interval::exactly(epsilon.hi * 1.01 + 1e-6), direction), Interval::exactly(0)) << text;
    }
  }
  EXPECT_EQ(pure_epsilon("gaussian(sigma=10) | repeat(2)").lo, infinity);
  EXPECT_EQ(pure_epsilon("laplace(scale=1) | repeat(3); dp(epsilon=0, delta=1e-9)").lo, infinity);
}

// A part that reveals everything in one direction only leaves a finite largest loss in the other direction, which still adds up.
TEST(LargestLoss, WithAPartThatMayRevealEverything) {
  const std::string one = "pair(p=[0.1,0.9],q=[0,1]) | poisson(rate=0.5)";
  const Curve twice = analyze(parse("(" + one + ") | repeat(2)"));
  EXPECT_EQ(twice.epsilon_at(Interval::exactly(0)).lo, infinity);
  EXPECT_THAT(twice.epsilon_at(Interval::exactly(0), Direction::add), Encloses("0.1025865887751010668523922885"));
}

// Noise without bounds has no pure guarantee; added to a sample it has one in the other direction alone. The answer needs no search.
TEST(LargestLoss, OfUnboundedNoise) {
  const Interval none = Interval::exactly(infinity);
  for (const char* plan :
       {"gaussian(sigma=6.9) | poisson(rate=0.0003) | repeat(21039)", "discrete_gaussian(sigma=2) | sample(rate=0.03) | repeat(9)",
        "zcdp(rho=0.01) | repeat(7); gaussian(sigma=3) | sample(rate=0.1) | repeat(9)", "gdp(mu=1) | group(2); laplace(scale=1)",
        "zcdp(rho=0.01) | poisson(rate=0.01) | group(3) | repeat(4)"})
    EXPECT_EQ(pure_epsilon(plan), none) << plan;
  const std::string sampled = "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)";
  EXPECT_EQ(pure_epsilon(sampled, Direction::remove), none);
  EXPECT_THAT(pure_epsilon(sampled, Direction::add), AllOf(Encloses("10.05033585350144118354885755"), IsTight(1e-12)));
}

}  // namespace
}  // namespace tradeoff::detail
