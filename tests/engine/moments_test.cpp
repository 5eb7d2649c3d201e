// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/moments/renyi_sum.h"
#include "loss/negligible.h"
#include "mechanism/gaussian.h"
#include "tradeoff/tradeoff.h"

namespace tradeoff::detail {
namespace {

// [renyi-conversion] Far out the bound is above the truth, which a Gaussian has in closed form, and not far above.
TEST(RenyiSum, BoundsWhatIsBelowAllDoubles) {
  const RenyiSum sum({{gaussian_loss(Interval::exactly(0.25)), 16}});
  const Curve truth = analyze(parse("gaussian(sigma=1)"));
  for (const double epsilon : {0.5, 5.0, 30.0, 38.5, 39.0, 60.0, 200.0}) {
    const Interval exact = truth.log_delta_at(epsilon);
    const auto found = sum.log_delta_if_at_most(Negligible::log_of_doubles, Direction::remove, epsilon, AtMost::least);
    const auto first = sum.log_delta_if_at_most(Negligible::log_of_doubles, Direction::remove, epsilon, AtMost::first);
    EXPECT_EQ(found.has_value(), exact.hi < Negligible::log_of_doubles - 1) << epsilon;
    EXPECT_EQ(first.has_value(), found.has_value()) << epsilon;
    if (!found) continue;
    EXPECT_GE(*found, exact.hi) << epsilon;
    EXPECT_GE(*first, *found) << epsilon;
    EXPECT_LE(*first, Negligible::log_of_doubles) << epsilon;
    EXPECT_LE(*found, exact.hi + 5 - 1e-4 * exact.hi) << epsilon;
    EXPECT_LE(*found, Negligible::log_of_doubles) << epsilon;
  }
}

// These plans took seconds in a lattice for a number that no double holds.
TEST(RenyiSum, AnswersForSlowEngines) {
  for (const std::string text :
       {"gaussian(sigma=10.2) | poisson(rate=0.000164) | repeat(23130)", "gaussian(sigma=14) | sample(rate=0.000319) | repeat(12)",
        "discrete_gaussian(sigma=6.69) | poisson(rate=0.000236) | repeat(8126)"}) {
    const Curve curve = analyze(parse(text));
    const Interval delta = curve.delta_at(4), log_delta = curve.log_delta_at(4);
    EXPECT_LE(delta.hi, 1e-323) << text;
    EXPECT_LT(log_delta.hi, Negligible::log_of_doubles) << text;
    EXPECT_LE(log_delta.lo, log_delta.hi) << text;
  }
}

}  // namespace
}  // namespace tradeoff::detail
