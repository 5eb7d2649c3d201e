// SPDX-License-Identifier: Apache-2.0
#include "support/matchers.h"

#include <gtest/gtest.h>

namespace tradeoff::detail::test {
namespace {

using ::testing::Not;

TEST(Encloses, ComparesDecimalsExactly) {
  const double nearest = 0.1;  // a little above one tenth
  EXPECT_THAT(Interval::exactly(nearest), Not(Encloses("0.1")));
  EXPECT_THAT((Interval{std::nextafter(nearest, 0.0), nearest}), Encloses("0.1"));
  EXPECT_THAT(Interval::exactly(0.5), Encloses("0.5"));
  EXPECT_THAT(Interval::exactly(0.5), Encloses("+5e-1"));
  EXPECT_THAT(Interval::exactly(0.5), Not(Encloses("0.5000000000000000000000000000000000000001")));
  EXPECT_THAT((Interval{-3, -1}), Encloses("-2.25"));
  EXPECT_THAT((Interval{0, 1e-300}), Encloses("1.3e-2182"));
  EXPECT_THAT((Interval{1e-308, 1}), Not(Encloses("1.3e-2182")));
}

TEST(Encloses, KnowsInfinitiesAndBrokenIntervals) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT((Interval{1, infinite}), Encloses("inf"));
  EXPECT_THAT((Interval{1, 2}), Not(Encloses(infinite)));
  EXPECT_THAT(Interval::whole(), Encloses("-inf"));
  EXPECT_THAT((Interval{2, 1}), Not(Encloses(1.5)));
  EXPECT_THAT((Interval{std::nan(""), std::nan("")}), Not(Encloses(1.5)));
}

TEST(Encloses, TakesBallsAndIntervals) {
  arb_t ball;
  arb_init(ball);
  arb_const_pi(ball, 200);
  EXPECT_THAT((Interval{3.141592653589793, 3.1415926535897936}), Encloses(ball));
  EXPECT_THAT(Interval::exactly(3.141592653589793), Not(Encloses(ball)));
  arb_clear(ball);
  EXPECT_THAT((Interval{1, 2}), Encloses(Interval{2, 3}));
  EXPECT_THAT((Interval{1, 2}), Not(Encloses(Interval{2.5, 3})));
}

TEST(IsTight, MeasuresTheRelativeWidth) {
  EXPECT_THAT((Interval{1, 1.0000001}), IsTight(1e-6));
  EXPECT_THAT((Interval{1, 1.00001}), Not(IsTight(1e-6)));
  EXPECT_THAT(Interval::exactly(0), IsTight(0));
  EXPECT_THAT(Interval::whole(), Not(IsTight(1e300)));
  EXPECT_THAT((Interval{std::nan(""), 1}), Not(IsTight(1)));
}

TEST(Golden, ReadsGroupsAndExactDecimals) {
  EXPECT_EQ(golden_group("f_dp.json", "gmu").size(), 40U);
  EXPECT_GT(golden_group("gdp_bridge.json", "delta_mu").size(), 300U);
  EXPECT_THAT(golden_interval("0.1"), Encloses("0.1"));
  EXPECT_EQ(golden_interval("0.25"), Interval::exactly(0.25));
}

}  // namespace
}  // namespace tradeoff::detail::test
