// SPDX-License-Identifier: Apache-2.0
#include "report/many_betas.h"

#include <gtest/gtest.h>

#include "tradeoff/analyze.h"

namespace tradeoff::detail::report {
namespace {

// [profile-duality] Both ends are compared with the trade-off function at single points.
TEST(ManyBetas, EncloseTheTradeOffFunction) {
  const std::vector<double> alphas = {0, 1e-9, 1e-4, 0.003, 0.05, 0.2, 0.5, 0.75, 0.9, 0.999, 1};
  for (const char* plan : {"gdp(mu=1)", "gdp(mu=0.01)", "gdp(mu=6)", "laplace(scale=1)", "laplace(scale=0.05)", "dp(epsilon=1, delta=0.1)",
                           "pair(p=[0.7, 0.2, 0.1], q=[0.1, 0.5, 0.4])", "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)",
                           "dp(epsilon=0, delta=0)", "laplace(scale=0.001)"}) {
    const Curve curve = analyze(parse(plan));
    for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
      const std::vector<Interval> betas = many_betas(curve, direction, alphas);
      for (std::size_t i = 0; i < alphas.size(); ++i) {
        const Interval truth = curve.beta_at(Interval::exactly(alphas[i]), direction);
        EXPECT_LE(betas[i].lo, truth.hi) << plan << " at " << alphas[i];
        EXPECT_GE(betas[i].hi, truth.lo) << plan << " at " << alphas[i];
        EXPECT_GE(betas[i].lo, 0);
        EXPECT_LE(betas[i].hi, 1);
      }
    }
  }
}

TEST(ManyBetas, AreNarrowEnoughForAPicture) {
  for (const char* plan : {"gdp(mu=1)", "gdp(mu=3)", "laplace(scale=1)", "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)"}) {
    const Curve curve = analyze(parse(plan));
    const std::vector<Interval> betas = many_betas(curve, Direction::worst, {1e-4, 0.01, 0.1, 0.3, 0.5, 0.9});
    for (const Interval beta : betas) EXPECT_LE(beta.width(), 1.5e-3) << plan;  // half a pixel
  }
}

}  // namespace
}  // namespace tradeoff::detail::report
