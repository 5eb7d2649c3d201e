// SPDX-License-Identifier: Apache-2.0
// [laplace-profile] and [laplace-mu]
#include "mechanism/laplace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

const Interval zero = Interval::exactly(0);

TEST(Laplace, ProfileHasItsThreeBranches) {
  const LaplaceLoss loss(Interval::exactly(2));
  EXPECT_EQ(loss.delta(Direction::remove, Interval::exactly(2)), zero);
  EXPECT_EQ(loss.delta(Direction::add, Interval::exactly(infinity)), zero);
  EXPECT_THAT(loss.delta(Direction::remove, zero), Encloses("0.632120558828557678404476229839"));          // 1 - 1/e
  EXPECT_THAT(loss.delta(Direction::remove, Interval::exactly(-3)), Encloses("0.950212931632136057049"));  // 1 - e^-3
  EXPECT_EQ(loss.delta(Direction::remove, Interval::exactly(-infinity)), Interval::exactly(1));
}

TEST(Laplace, MuIsTheOneMeasuredWithThirtyDigits) {
  for (const auto& entry : test::golden_group("gdp_bridge.json", "laplace_mu")) {
    if (entry["name"] != "laplace, poisson" || entry["gamma"] != "1") continue;
    const LaplaceLoss loss(Interval::exactly(test::golden_double(entry["eps0"])));
    ASSERT_TRUE(loss.closed_mu().has_value());
    EXPECT_THAT(*loss.closed_mu(), Encloses(entry["mu"].get<std::string>()));
    EXPECT_THAT(*loss.closed_mu(), IsTight(1e-12));
  }
}

TEST(Laplace, EpsilonInvertsTheProfile) {
  const LaplaceLoss loss(Interval::exactly(1.5));
  for (const double delta : {0.0, 1e-300, 1e-9, 0.1, 0.5, 0.999}) {
    const Interval epsilon = *loss.closed_epsilon(Direction::remove, Interval::exactly(delta));
    EXPECT_LE(loss.delta(Direction::remove, Interval::exactly(epsilon.hi + 1e-12)).lo, delta);
    if (epsilon.lo > 1e-12) {
      EXPECT_GE(loss.delta(Direction::remove, Interval::exactly(epsilon.lo - 1e-12)).hi, delta);
    }
  }
}

TEST(Laplace, HugeParametersStayOrdered) {
  for (const double e0 : {1e-300, 1e-10, 700.0, 1e5, 1e300}) {
    const LaplaceLoss loss(Interval::exactly(e0));
    for (const double e : {-1e300, -1.0, 0.0, 1.0, 1e300}) {
      const Interval delta = loss.delta(Direction::remove, Interval::exactly(e));
      EXPECT_TRUE(0 <= delta.lo && delta.lo <= delta.hi && delta.hi <= 1) << e0 << " " << e;
    }
    for (const double alpha : {0.0, 1e-300, 0.25, 0.5, 1.0}) {
      const Interval beta = *loss.closed_beta(Direction::remove, Interval::exactly(alpha));
      EXPECT_TRUE(0 <= beta.lo && beta.lo <= beta.hi && beta.hi <= 1) << e0 << " " << alpha;
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail
