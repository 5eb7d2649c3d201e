// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <compare>
#include <optional>

#include "numeric/rational.h"
#include "plan/number.h"
#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

TEST(Stated, ComparesTheNumbersAsWritten) {
  const auto at_most = [](const char* a, const char* b) { return surely_at_most(read_number(a), read_number(b)); };
  EXPECT_TRUE(at_most("1e-5", "0.00001"));
  EXPECT_TRUE(at_most("0.1", "0.2"));
  EXPECT_TRUE(at_most("1/3", "1/3"));
  EXPECT_FALSE(at_most("1e-5", "0.00000999999999999999999999"));
  EXPECT_FALSE(at_most("0.1", "0.09999999999999999999999"));
  EXPECT_TRUE(at_most("2/6", "1/3"));
  EXPECT_TRUE(at_most("28200/103", "1410/5.15"));
  EXPECT_TRUE(at_most("0.3", "3/10"));
  EXPECT_FALSE(at_most("1/3", "0.33333333333333333333"));
  EXPECT_FALSE(at_most("1234567890123456789012345678901234567891/3", "2469135780246913578024691357802469135782/6"))
      << "too long to be told apart: never taken for equal";
}

TEST(Stated, OrdersExactNumbers) {
  const auto order = [](const char* a, const char* b) { return exact_order(read_number(a), read_number(b)); };
  EXPECT_EQ(order("0.1", "0.2"), std::strong_ordering::less);
  EXPECT_EQ(order("0.30000000000000000001", "3/10"), std::strong_ordering::greater);
  EXPECT_EQ(order("-0.3", "-3/10"), std::nullopt);
  EXPECT_EQ(order("-0.3", "-0.30"), std::strong_ordering::equal);
}

TEST(Stated, AddsTheLargestLossesExactly) {
  const auto largest = [](const char* plan) { return exact_largest_loss(parse(plan), vocabulary()); };
  EXPECT_EQ(largest("laplace(scale=20) | repeat(50)"), exact_rational(read_number("2.5")));
  EXPECT_EQ(largest("(dp(1/3); dp(1/6)) | group(2) | repeat(3)"), exact_rational(read_number("3")));
  EXPECT_EQ(largest("gaussian(sigma=1)"), std::nullopt);
  EXPECT_EQ(largest("dp(1) | invert()"), std::nullopt);
}

TEST(Stated, AddsTheRhoExactly) {
  const auto rho = [](const char* plan) {
    const auto found = exact_rho(parse(plan), vocabulary());
    return found ? std::optional(found->value) : std::nullopt;
  };
  const auto exactly = [](const char* text) { return exact_rational(read_number(text)); };
  EXPECT_EQ(rho("laplace(scale=20) | repeat(50)"), exactly("0.0625"));
  EXPECT_EQ(rho("gaussian(sigma=0.1)"), exactly("50"));
  EXPECT_EQ(rho("gaussian(sigma=2, sensitivity=3) | repeat(4); gdp(mu=0.3) | group(2)"), exactly("4.68"));
  EXPECT_EQ(rho("zcdp(rho=0.01) | repeat(10)"), exactly("0.1"));
  EXPECT_EQ(rho("gaussian(sigma=1) | poisson(rate=0.1)"), std::nullopt);
  EXPECT_EQ(rho("dp(epsilon=1, delta=1e-5)"), std::nullopt);
  EXPECT_TRUE(exact_rho(parse("gaussian(sigma=3); zcdp(rho=1)"), vocabulary())->is_exact);
  EXPECT_FALSE(exact_rho(parse("gaussian(sigma=3); laplace(scale=1)"), vocabulary())->is_exact);
}

TEST(Stated, KnowsTheStepOfTheLosses) {
  const auto step = [](const char* plan) { return exact_loss_step(parse(plan), vocabulary()); };
  const auto exactly = [](const char* text) { return exact_rational(read_number(text)); };
  EXPECT_EQ(step("dp(epsilon=0.05, delta=1e-9) | repeat(50)"), exactly("0.05"));
  EXPECT_EQ(step("randomized_response(epsilon=0.7, choices=4)"), exactly("0.7"));
  EXPECT_EQ(step("discrete_laplace(scale=5, sensitivity=3) | repeat(2)"), exactly("0.2"));
  EXPECT_EQ(step("dp(epsilon=0.05) | poisson(rate=0.1)"), std::nullopt);
  EXPECT_EQ(step("dp(epsilon=0.05); dp(epsilon=0.05)"), std::nullopt);
}

TEST(Stated, ListsTheGuaranteesOfAPlan) {
  const auto stated = stated_guarantees(parse("constraints([(1, 1e-9), (0.5, 1e-6)])"), vocabulary());
  ASSERT_EQ(stated.size(), 2U);
  EXPECT_EQ(stated[1].epsilon.text, "0.5");
  EXPECT_EQ(stated[1].delta.text, "1e-6");
  EXPECT_EQ(stated_guarantees(parse("dp(epsilon=1)"), vocabulary()).front().delta.text, "0");
}

TEST(Stated, IsEmptyForOtherPlans) {
  for (const char* text : {"dp(1, 1e-5) | repeat(2)", "dp(1, 1e-5); dp(1, 1e-5)", "gaussian(sigma=1)", "(dp(1, 1e-5))"})
    EXPECT_TRUE(stated_guarantees(parse(text), vocabulary()).empty()) << text;
}

}  // namespace
}  // namespace tradeoff::detail
