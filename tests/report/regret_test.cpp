// SPDX-License-Identifier: Apache-2.0
// [summary-regret] The loss by a summary of a curve, compared with the definition.
#include "report/regret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::report {
namespace {

Curve curve_of(const char* plan) { return analyze(parse(plan)); }

/// The least k with f(alpha + k) - k <= g(alpha) at many alphas: at most the regret, and nearly all of it.
double by_definition(const Curve& curve, const Curve& summary) {
  double least = 0;
  for (int i = 0; i <= 100; ++i) {
    const double alpha = i / 100.0;
    const double g = summary.beta_at(alpha).lo;
    double low = 0, high = 1;
    for (int halving = 0; halving < 30; ++halving) {
      const double k = (low + high) / 2;
      const double f = alpha + k > 1 ? 0 : curve.beta_at(alpha + k).lo;
      (f - k <= g ? high : low) = k;
    }
    least = std::max(least, high);
  }
  return least;
}

struct Pair {
  const char* curve;
  const char* summary;
};

class RegretPair : public testing::TestWithParam<Pair> {};

TEST_P(RegretPair, IsWhatTheDefinitionSays) {
  const Curve curve = curve_of(GetParam().curve), summary = curve_of(GetParam().summary);
  const Interval regret = regret_of(curve, summary);
  const double least = by_definition(curve, summary);
  EXPECT_GE(regret.hi, least);
  EXPECT_LE(regret.lo, least + 1.0 / 100);  // between two alphas the definition may ask for a step more
  EXPECT_LE(regret.width(), std::max(2e-4, 0.011 * regret.hi));
}

INSTANTIATE_TEST_SUITE_P(Pairs, RegretPair,
                         testing::Values(Pair{"laplace(scale=1)", "gdp(mu=1.0307)"}, Pair{"laplace(scale=0.5)", "gdp(mu=1.81)"},
                                         Pair{"gdp(mu=1)", "gdp(mu=2)"}, Pair{"gdp(mu=0.5)", "gdp(mu=30)"},
                                         Pair{"dp(epsilon=1)", "dp(epsilon=1, delta=0.1)"},
                                         Pair{"pair(p=[0.75, 0.25], q=[0.5, 0.5])", "dp(epsilon=1)"},
                                         Pair{"laplace(scale=0.2)", "gdp(mu=6)"}));

TEST(Regret, OfPureGuaranteesHasAClosedForm) {
  // delta of f_{e,0} at x is (exp(e) - exp(x)) / (1 + exp(e)) below e; its quotient falls in x, so everything is lost at 0.
  const Interval regret = regret_of(curve_of("dp(epsilon=1)"), curve_of("dp(epsilon=2)"));
  EXPECT_THAT(regret, test::Encloses((std::tanh(1.0) - std::tanh(0.5)) / 2));
}

TEST(Regret, IsNothingForTheCurveItself) {
  for (const char* plan : {"gdp(mu=1)", "laplace(scale=1)", "dp(epsilon=1, delta=0.01)"}) {
    const Interval regret = regret_of(curve_of(plan), curve_of(plan));
    EXPECT_EQ(regret.lo, 0) << plan;
    EXPECT_LE(regret.hi, 3e-4) << plan;
  }
}

TEST(Regret, OfATrivialGuarantee) {
  // Everything may be revealed: g = 0, and f crosses the diagonal at its balanced error.
  const Curve curve = curve_of("gdp(mu=1)");
  const Interval regret = regret_of(curve, curve_of("dp(epsilon=0, delta=1)"));
  EXPECT_THAT(regret, test::Encloses(0.3085375387259869));
}

}  // namespace
}  // namespace tradeoff::detail::report
