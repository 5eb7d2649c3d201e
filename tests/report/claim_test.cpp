// SPDX-License-Identifier: Apache-2.0
#include "report/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

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
            "epsilon <= 2.3817 at delta = 1e-05\n"
            "    between 2.3816901 and 2.3816908\n"
            "    add-remove neighbours; contour, 0.6 ms\n");
  EXPECT_EQ(to_text(epsilon, {true, "not shown"}), "epsilon <= 2.3817 at delta = 1e-05\n");
  EXPECT_EQ(to_text(epsilon, {false, "", 2}), "  epsilon <= 2.3817 at delta = 1e-05\n      between 2.3816901 and 2.3816908\n");
  const Claim beta{"beta", {0.74049, 0.74051}, SafeEnd::lo, "", {}};
  EXPECT_THAT(to_text(beta, {}), StartsWith("beta >= 0.740489\n    between "));
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

/// The claimed number, which stands after the relation.
numeric::Decimal number_of(const std::string& line) {
  const auto from = line.find("= ") + 2;
  return *numeric::read_decimal(line.substr(from, line.find('\n', from) - from));
}

// The law of every printed claim: it is on the safe side of the interval, and has at most six digits unless the interval is a point.
TEST(Claim, IsSafeWithAtMostSixDigits) {
  std::mt19937_64 random(21);
  std::uniform_real_distribution<double> exponent(-12, 4), width(-17, 0);
  for (int i = 0; i < 20000; ++i) {
    const double lo = std::pow(10, exponent(random));
    const double hi = i % 7 == 0 ? lo : lo * (1 + std::pow(10, width(random)));
    for (const SafeEnd safe : {SafeEnd::lo, SafeEnd::hi}) {
      const numeric::Decimal said = number_of(to_text({"x", {lo, hi}, safe, "", {}}, {true, ""}));
      const auto order = numeric::compare(said, numeric::exact_decimal(safe == SafeEnd::hi ? hi : lo));
      EXPECT_TRUE(safe == SafeEnd::hi ? order >= 0 : order <= 0) << lo << " " << hi;
      const bool is_short = said.digits.size() <= 6 || (lo == hi && order == 0);
      EXPECT_TRUE(is_short || (said.digits.size() <= 10 && (said.digits.find("0000") >= 1 || said.digits.find("9999") < 6)))
          << lo << " " << hi;
    }
  }
}

TEST(Claim, HasTheDigitsThatTheWidthSupports) {
  EXPECT_EQ(claimed({99.9999999999, 100.0000001}, SafeEnd::hi), "100.001");
  EXPECT_EQ(claimed({0.9899999999, 0.9900000002}, SafeEnd::hi), "0.990001");
  EXPECT_EQ(claimed({0.9899999998, 0.9900000001}, SafeEnd::lo), "0.989999");
  // Just beyond a short decimal, six digits would add a whole step.
  EXPECT_EQ(claimed({0.98999999999, 0.99000000001}, SafeEnd::hi), "0.9900000001");
  EXPECT_EQ(claimed({0.98999999999, 0.99000000001}, SafeEnd::lo), "0.9899999999");
  EXPECT_EQ(claimed({2.4999999999999996, 2.5000000000000004}, SafeEnd::hi), "2.500000001");
  EXPECT_EQ(claimed({0.5, 0.99000000001}, SafeEnd::hi), "0.9901");
  EXPECT_EQ(claimed({2.38169, 2.3816901}, SafeEnd::hi), "2.3817");
  EXPECT_EQ(claimed({2.3816801, 2.3816802}, SafeEnd::hi), "2.38169");
  EXPECT_EQ(claimed({1.896, 2.24612}, SafeEnd::hi), "2.247");
  EXPECT_EQ(claimed({2.2456, 2.24612}, SafeEnd::hi), "2.2462");
  EXPECT_EQ(claimed({0, std::numeric_limits<double>::infinity()}, SafeEnd::hi), "inf");
  EXPECT_EQ(claimed({0.123456789, 0.123456789}, SafeEnd::hi), "0.123457");  // this double is no short decimal
}

TEST(Claim, IsExactWhereTheNumberIs) {
  EXPECT_EQ(claimed({100, 100}, SafeEnd::hi), "100");
  EXPECT_EQ(claimed({0.5078125, 0.5078125}, SafeEnd::lo), "0.5078125");
  const Interval near{0.29999999999999998, 0.30000000000000004};
  EXPECT_EQ(to_text({"epsilon", near, SafeEnd::hi, "at delta = 0", {}, "0.3"}, {}), "epsilon <= 0.3 at delta = 0\n    exactly 0.3\n");
  EXPECT_EQ(to_text({"epsilon", {273.78640776699023, 273.7864077669903}, SafeEnd::hi, "", {}, "28200/103"}, {}),
            "epsilon <= 273.787\n    exactly 28200/103\n");
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

TEST(Claim, SaysZeroAndNotAnExponentOfMinusInfinity) {
  const auto log10 = log10_if_tiny({0, 1e-320});
  ASSERT_TRUE(log10);
  EXPECT_EQ(to_text({"beta", {0, 1e-320}, SafeEnd::lo, "", log10}, {}), "beta >= 0\n    between 0 and 10^-320\n");
  EXPECT_EQ(to_text({"delta", {0, 1e-320}, SafeEnd::hi, "", log10}, {}), "delta <= 10^-320\n    between 0 and 10^-320\n");
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
