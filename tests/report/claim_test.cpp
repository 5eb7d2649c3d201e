// SPDX-License-Identifier: Apache-2.0
#include "report/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "numeric/number_text.h"
#include "report/caret.h"
#include "support/matchers.h"

namespace tradeoff::detail::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Claim, PutsTheSafeEndFirstAndTheIntervalSecond) {
  const Claim epsilon{"epsilon", {2.3816901, 2.3816908}, SafeEnd::hi, "at delta = 1e-05", {}};
  EXPECT_EQ(to_text(epsilon, {false, "add-remove neighbours; contour, 0.6 ms"}),
            "epsilon <= 2.382 at delta = 1e-05\n"
            "    between 2.3816901 and 2.3816908\n"
            "    add-remove neighbours; contour, 0.6 ms\n");
  EXPECT_EQ(to_text(epsilon, {true, "not shown"}), "epsilon <= 2.382 at delta = 1e-05\n");
  EXPECT_EQ(to_text(epsilon, {false, "", 2}), "  epsilon <= 2.382 at delta = 1e-05\n      between 2.3816901 and 2.3816908\n");
  const Claim beta{"beta", {0.74049, 0.74051}, SafeEnd::lo, "", {}};
  EXPECT_THAT(to_text(beta, {}), StartsWith("beta >= 0.7404\n    between "));
}

TEST(Claim, NeverClaimsMoreThanIsCertified) {
  for (const double value : {0.1, 1.0 / 3, 2.0 / 3, 0.99999999, 1e-7, 123456.789, 5e-324}) {
    for (int digits = 1; digits <= 17; ++digits) {
      const auto above = *numeric::read_decimal(safe_end({0, value}, SafeEnd::hi, digits));
      const auto below = *numeric::read_decimal(safe_end({value, 1e300}, SafeEnd::lo, digits));
      EXPECT_TRUE(numeric::compare(above, numeric::exact_decimal(value)) >= 0) << value << " " << digits;
      EXPECT_TRUE(numeric::compare(below, numeric::exact_decimal(value)) <= 0) << value << " " << digits;
    }
  }
}

TEST(Claim, ShowsTheWidthOfNarrowIntervals) {
  EXPECT_EQ(between({0.5, 0.5}), "exactly 0.5");
  EXPECT_EQ(between({0, std::numeric_limits<double>::infinity()}), "between 0 and inf");
  EXPECT_EQ(between({0.25, 0.2500000001}), "between 0.25 and 0.250000000101");
}

TEST(Claim, GivesTheExponentOfWhatADoubleCannotHold) {
  EXPECT_EQ(log10_if_tiny({1e-299, 1e-299}), std::nullopt);
  const auto log10 = log10_if_tiny({0, 0}, Interval{-2302.6, -2302.5});
  ASSERT_TRUE(log10);
  EXPECT_THAT(*log10, test::Encloses(-1000));
  EXPECT_THAT(to_text({"delta", {0, 5e-324}, SafeEnd::hi, "", log10}, {}), StartsWith("delta <= 10^-999."));
  const auto of_zero = log10_if_tiny({0, 0});
  ASSERT_TRUE(of_zero);
  EXPECT_EQ(of_zero->hi, -std::numeric_limits<double>::infinity());
}

TEST(Caret, StandsUnderTheFault) {
  EXPECT_EQ(indented_point("gausian(1)", 0), "  gausian(1)\n  ^\n");
  EXPECT_EQ(indented_point("a(1)\nb(2,)\nc(3)", 9), "  b(2,)\n      ^\n");
  EXPECT_EQ(indented_point("", 0), "  \n  ^\n");
  EXPECT_EQ(indented_point("abc", 99), "  abc\n     ^\n");
  EXPECT_EQ(indented_point("\xC3\xA9!", 2), "  \xC3\xA9!\n   ^\n");
  EXPECT_LT(indented_point(std::string(1 << 20, 'x'), 1 << 19).size(), 300U);
}

}  // namespace
}  // namespace tradeoff::detail::report
