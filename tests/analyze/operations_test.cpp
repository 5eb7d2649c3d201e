// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "loss/gaussian_profile.h"
#include "numeric/normal.h"
#include "support/matchers.h"
#include "support/random_pair.h"
#include "tradeoff/analyze.h"
#include "tradeoff/approximate.h"
#include "tradeoff/error.h"

// [curve-algebra] [privacy-order] [tensor-composition]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

Curve curve(const std::string& plan) { return analyze(parse(plan)); }

/// A random finite pair as a plan, and its two vectors.
struct Pair {
  std::vector<double> p, q;
  std::string plan;
};

Pair random_pair(std::mt19937_64& random) {
  const test::RandomPair drawn = test::random_pair(random, test::ZeroWeights::often);
  return {drawn.probabilities<double>(0), drawn.probabilities<double>(1), drawn.plan};
}

double brute_delta(const std::vector<double>& p, const std::vector<double>& q, double epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  return sum;
}

Interval near(double value) { return {value - 1e-12, value + 1e-12}; }

TEST(CurveAlgebra, RandomPairsAgainstBruteForce) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    const Pair a = random_pair(random), b = random_pair(random);
    const Curve one = analyze(parse(a.plan), Neighbours::add_remove), other = analyze(parse(b.plan), Neighbours::add_remove);
    const Curve swapped = inverse(one), both = symmetrized(one), low = weakest({one, other}), high = strongest({one, other});
    const Curve mixed = mixture({{Interval::exactly(0.25), one}, {Interval::exactly(0.75), other}});
    const Curve revealed = with_revealing(one, Interval::exactly(0.125)), composed = product({one, other});
    for (const double epsilon : {-0.7, 0.0, 0.4, 1.1}) {
      const Interval e = Interval::exactly(epsilon);
      const double forward = brute_delta(a.p, a.q, epsilon), backward = brute_delta(a.q, a.p, epsilon);
      const double second = brute_delta(b.p, b.q, epsilon), second_back = brute_delta(b.q, b.p, epsilon);
      EXPECT_THAT(swapped.delta_at(e, Direction::remove), Encloses(near(backward)));
      EXPECT_THAT(swapped.delta_at(e, Direction::add), Encloses(near(forward)));
      EXPECT_THAT(low.delta_at(e, Direction::remove), Encloses(near(std::max(forward, second))));
      EXPECT_THAT(mixed.delta_at(e, Direction::remove), Encloses(near(0.25 * forward + 0.75 * second)));
      EXPECT_THAT(revealed.delta_at(e, Direction::remove), Encloses(near(0.125 + 0.875 * forward)));
      double product_delta = 0;
      for (std::size_t i = 0; i < a.p.size(); ++i)
        for (std::size_t j = 0; j < b.p.size(); ++j) product_delta += std::max(0.0, a.p[i] * b.p[j] - std::exp(epsilon) * a.q[i] * b.q[j]);
      EXPECT_THAT(composed.delta_at(e, Direction::remove), Encloses(near(product_delta)));
      if (epsilon < 0) continue;
      EXPECT_THAT(both.delta_at(e), Encloses(near(std::max(forward, backward))));
      EXPECT_LE(high.delta_at(e).lo, std::min(std::max(forward, backward), std::max(second, second_back)));
    }
    for (const double alpha : {0.05, 0.3, 0.7}) {
      const double best = std::max(symmetrized(one).beta_at(alpha).lo, symmetrized(other).beta_at(alpha).lo);
      EXPECT_NEAR(high.beta_at(alpha).lo, best, 1e-9);
      EXPECT_LE(low.beta_at(alpha).lo, std::min(one.beta_at(alpha).hi, other.beta_at(alpha).hi));
    }
  }
}

TEST(CurveAlgebra, ScalingByTotalVariationIsEquationTwelve) {
  for (const auto& entry : golden_group("f_dp.json", "eq12")) {
    const auto& inputs = entry.at("inputs");
    const Curve scaled = with_revealing(curve("gdp(mu=" + inputs.at("mu").get<std::string>() + ")"), golden_interval(inputs.at("delta")));
    EXPECT_THAT(scaled.beta_at(golden_interval(inputs.at("alpha"))), Encloses(entry.at("value").get<std::string>()));
  }
  for (const auto& entry : golden_group("f_dp.json", "eq12_dual")) {
    const auto& inputs = entry.at("inputs");
    const Curve scaled = with_revealing(curve("gdp(mu=" + inputs.at("mu").get<std::string>() + ")"), golden_interval(inputs.at("delta0")));
    EXPECT_THAT(scaled.delta_at(golden_interval(inputs.at("eps"))), Encloses(entry.at("value").get<std::string>()));
  }
}

TEST(CurveAlgebra, FixedPointsOfGaussianCurves) {
  for (const auto& entry : golden_group("f_dp.json", "gmu_fixed")) {
    const Interval fixed = normal_cdf(-golden_interval(entry.at("inputs").at("mu")) / 2.0);
    EXPECT_THAT(fixed, Encloses(entry.at("value").get<std::string>()));
    EXPECT_THAT(curve("gdp(mu=" + entry.at("inputs").at("mu").get<std::string>() + ")").beta_at(fixed), Encloses(fixed));
  }
}

TEST(CurveAlgebra, ListsOfGuaranteesRoundTrip) {
  const Curve gaussian = curve("gdp(mu=1)");
  std::vector<double> epsilons;
  for (int i = 0; i <= 40; ++i) epsilons.push_back(0.1 * i);
  const Curve back = from_guarantees(to_guarantees(gaussian, epsilons));
  for (const double epsilon : epsilons) {
    EXPECT_GE(back.delta_at(epsilon).hi, gaussian.delta_at(epsilon).lo);
    EXPECT_LE(back.delta_at(epsilon).lo, gaussian.delta_at(epsilon).hi + 1e-12);
  }
  for (const double alpha : {0.01, 0.1, 0.5}) EXPECT_LE(back.beta_at(alpha).lo, gaussian.beta_at(alpha).hi);  // lossy, on the safe side
  EXPECT_THROW((void)to_guarantees(gaussian, {-1}), DomainError);
  const Curve polygon = from_tradeoff({{Interval::exactly(0), Interval::exactly(1)},
                                       {Interval::exactly(0.25), Interval::exactly(0.25)},
                                       {Interval::exactly(1), Interval::exactly(0)}});
  EXPECT_THAT(polygon.beta_at(Interval::exactly(0.125), Direction::remove), Encloses(0.625));
}

TEST(CurveAlgebra, CornersOfAnExactPlanAgreeWithTheCurve) {
  const Curve response = curve("randomized_response(epsilon=0.5) | repeat(4)");
  const std::vector<Guarantee> corners = corners_of(response);
  ASSERT_EQ(corners.size(), 3U);  // losses 0, 1 and 2
  for (const auto& [epsilon, delta] : corners) {
    const Interval asked = response.delta_at(epsilon);
    EXPECT_LE(asked.lo, delta.hi);
    EXPECT_LE(delta.lo, asked.hi);
  }
  EXPECT_EQ(corners_of(response, Direction::add), corners_of(response, Direction::remove));
  EXPECT_THROW((void)corners_of(curve("gaussian(sigma=1)")), UnsupportedError);
  EXPECT_THROW((void)corners_of(curve("randomized_response(epsilon=1) | poisson(rate=0.5)")), UnsupportedError) << "the directions differ";
  const Approximations polygons = approximate(curve("laplace(scale=1)"), 2);
  EXPECT_EQ(polygons.below.pieces.size(), 2U);
  EXPECT_LT(polygons.below.area.hi, polygons.above.area.lo);
  const Interval composed = composed_between_polygons(curve("laplace(scale=1)"), 8, 2, Interval::exactly(0.5));
  const Interval exact = curve("laplace(scale=1) | repeat(2)").delta_at(0.5);
  EXPECT_LE(composed.lo, exact.hi);
  EXPECT_LE(exact.lo, composed.hi);
}

TEST(CurveAlgebra, GroupsAndNeighbours) {
  EXPECT_THAT(grouped(curve("gdp(mu=0.5)"), 3).delta_at(1), Encloses(gaussian_delta(1.5, 1)));
  const Curve poisson = curve("gdp(mu=1) | poisson(rate=0.1)"), sampled = curve("gdp(mu=1) | sample(rate=0.1)");
  EXPECT_THROW((void)product({poisson, sampled}), DomainError);
  EXPECT_THROW((void)strongest({poisson, sampled}), DomainError);
  EXPECT_THROW((void)weakest({}), DomainError);
  EXPECT_EQ(product({poisson, curve("gdp(mu=1)")}).neighbours(), Neighbours::add_remove);
  // Erratum: the sum of both errors is higher, not lower, with subsampling: C_p(f) lies above the guarantee of the sampled mechanism.
  const Curve stated = curve("dp(epsilon=3, delta=0.1) | sample(rate=0.2)");
  const Curve single = from_guarantees({{stated.epsilon_at(Interval::exactly(0.0201)), Interval::exactly(0.0201)}});
  EXPECT_GT(stated.beta_at(0.3).lo, single.beta_at(0.3).lo);
}

TEST(PrivacyOrder, Verdicts) {
  const auto verdict = [](const std::string& one, const std::string& other) {
    return at_least_as_private(curve(one), curve(other)).verdict;
  };
  EXPECT_EQ(verdict("gdp(mu=1)", "gdp(mu=1.5)"), Order::yes);
  EXPECT_EQ(verdict("gdp(mu=1.5)", "gdp(mu=1)"), Order::no);
  // They meet at epsilon = 1; the exact list of guarantees shows this exactly, the composed curve up to rounding.
  const Curve pure = from_guarantees({{Interval::exactly(1), Interval::exactly(0)}});
  EXPECT_EQ(at_least_as_private(curve("laplace(scale=1)"), pure).verdict, Order::yes);
  EXPECT_NE(verdict("laplace(scale=1)", "dp(epsilon=1)"), Order::no);
  EXPECT_EQ(verdict("laplace(scale=1.01)", "dp(epsilon=1)"), Order::yes);
  EXPECT_EQ(verdict("dp(epsilon=1)", "laplace(scale=1)"), Order::no);
  EXPECT_EQ(verdict("gaussian(sigma=1) | poisson(rate=0.1)", "gaussian(sigma=1)"), Order::yes);
  EXPECT_EQ(verdict("randomized_response(0.99, 4)", "dp(epsilon=1)"), Order::yes);
  EXPECT_EQ(verdict("gdp(mu=1)", "dp(epsilon=2, delta=0.4)"), Order::yes);
  EXPECT_EQ(verdict("dp(epsilon=1, delta=0.01)", "dp(epsilon=1, delta=0.02)"), Order::yes);
  EXPECT_EQ(verdict("laplace(scale=2)", "laplace(scale=1)"), Order::yes);
  EXPECT_EQ(verdict("gdp(mu=1)", "laplace(scale=1)"), Order::no);
  // Incomparable: each is less private somewhere.
  EXPECT_EQ(verdict("dp(epsilon=0.2, delta=0.2)", "dp(epsilon=1)"), Order::no);
  EXPECT_EQ(verdict("dp(epsilon=1)", "dp(epsilon=0.2, delta=0.2)"), Order::no);
}

TEST(PrivacyOrder, DistinguishesDecimalsBetweenTheSameDoubles) {
  const auto verdict = [](const std::string& one, const std::string& other) {
    return at_least_as_private(curve(one), curve(other)).verdict;
  };
  EXPECT_NE(verdict("laplace(scale=0.1)", "laplace(scale=0.10000000000000000001)"), Order::yes);
  EXPECT_NE(verdict("laplace(scale=1) | poisson(rate=0.30000000000000000001)", "laplace(scale=1) | poisson(rate=0.3)"), Order::yes);
  EXPECT_EQ(verdict("laplace(scale=0.1)", "laplace(0.10)"), Order::yes);
  EXPECT_EQ(verdict("laplace(scale=1, sensitivity=2)", "laplace(scale=0.5)"), Order::yes);
}

TEST(PrivacyOrder, DetectsANarrowCrossing) {
  // Far more private almost everywhere, but its largest losses exceed those of the other: the answer must not be yes.
  const Curve one = mixture({{Interval::exactly(0.875), curve("dp(epsilon=0.1)")}, {Interval::exactly(0.125), curve("laplace(scale=1)")}});
  EXPECT_NE(at_least_as_private(one, curve("laplace(scale=1.0001)")).verdict, Order::yes);
  EXPECT_EQ(at_least_as_private(one, curve("laplace(scale=0.9)")).verdict, Order::yes);
}

TEST(PrivacyOrder, TheWitnessProvesTheViolation) {
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{{"gdp(mu=1.5)", "gdp(mu=1)"},
                                                                                   {"dp(epsilon=1)", "laplace(scale=1)"},
                                                                                   {"gdp(mu=1)", "laplace(scale=1)"},
                                                                                   {"dp(epsilon=0.2, delta=0.2)", "dp(epsilon=1)"}}) {
    const OrderAnswer answer = at_least_as_private(curve(one), curve(other));
    ASSERT_EQ(answer.verdict, Order::no) << one;
    ASSERT_TRUE(answer.alpha.has_value()) << one;
    EXPECT_LT(curve(one).beta_at(*answer.alpha).hi, curve(other).beta_at(*answer.alpha).lo) << one;
    EXPECT_GT(curve(one).delta_at(*answer.epsilon).lo, curve(other).delta_at(*answer.epsilon).hi) << one;
  }
}

TEST(PrivacyOrder, RandomPairsAgainstBruteForce) {
  std::mt19937_64 random(5);
  int decided = 0;
  for (int trial = 0; trial < 80; ++trial) {
    const Pair a = random_pair(random), b = random_pair(random);
    const OrderAnswer answer = at_least_as_private(curve(a.plan), curve(b.plan));
    bool below = true, clearly_above = false;
    for (double epsilon = 0; epsilon < 8; epsilon += 0.01) {
      const double one = std::max(brute_delta(a.p, a.q, epsilon), brute_delta(a.q, a.p, epsilon));
      const double other = std::max(brute_delta(b.p, b.q, epsilon), brute_delta(b.q, b.p, epsilon));
      below = below && one <= other + 1e-12;
      clearly_above = clearly_above || one > other + 1e-9;
    }
    if (answer.verdict == Order::yes) {
      EXPECT_TRUE(below) << a.plan << " " << b.plan;
    }
    if (answer.verdict == Order::no) {
      EXPECT_TRUE(clearly_above) << a.plan << " " << b.plan;
    }
    decided += answer.verdict != Order::undecided ? 1 : 0;
  }
  EXPECT_GT(decided, 60);
}

TEST(CurveAlgebra, TheProductOfCurvesThatWereNotComposedIsTheirComposition) {
  const Curve pure = from_guarantees({{Interval::exactly(0.5), Interval::exactly(0)}});
  const Curve both = product({pure, pure}), plan = curve("dp(epsilon=0.5) | repeat(2)");
  for (const double epsilon : {0.0, 0.3, 0.7, 1.0}) EXPECT_THAT(both.delta_at(epsilon), Encloses(plan.delta_at(epsilon))) << epsilon;
}

// A plan that was built without the parser: what the parser would refuse is refused as well.
TEST(Analyze, RefusesPlansThatNoTextDescribes) {
  Plan mixed = parse("mixture([(1, dp(epsilon=1))])");
  auto& list = std::get<List>(std::get<Call>(mixed.lines.front().source).arguments.front().value.content);
  list.items.front().content = Number{"1", Interval::exactly(1)};
  EXPECT_THROW((void)analyze(mixed), DomainError);
  Plan unheard = parse("dp(epsilon=1)");
  unheard.lines.front().operators.push_back({"unheard_of", {}});
  EXPECT_THROW((void)analyze(unheard), UnsupportedError);
}

// The atoms of the second curve are not available, but its break points are.
TEST(PrivacyOrder, IsDecidedAtTheCornersOfALongList) {
  const OrderAnswer answer = at_least_as_private(curve("randomized_response(0.1)"), curve("discrete_gaussian(sigma=5) | repeat(3)"));
  EXPECT_EQ(answer.verdict, Order::yes);
}

// If the slopes exceed the range of doubles, no tangent gives a witness. A scan may find one; if it does not, the answer is still no.
TEST(PrivacyOrder, SaysNoWhereTheWitnessIsHardToFind) {
  const Curve huge = curve("dp(epsilon=1000)"), large = curve("gdp(mu=30)");
  const OrderAnswer scanned = at_least_as_private(huge, large);
  ASSERT_EQ(scanned.verdict, Order::no);
  ASSERT_TRUE(scanned.alpha.has_value());
  EXPECT_LT(huge.beta_at(*scanned.alpha).hi, large.beta_at(*scanned.alpha).lo);
  const Curve smaller = curve("dp(epsilon=900)");
  const OrderAnswer bare = at_least_as_private(huge, smaller);
  EXPECT_EQ(bare.verdict, Order::no);
  EXPECT_FALSE(bare.alpha.has_value());
  EXPECT_GT(huge.delta_at(*bare.epsilon).lo, smaller.delta_at(*bare.epsilon).hi);
}

}  // namespace
}  // namespace tradeoff::detail
