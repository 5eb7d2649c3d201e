// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tradeoff/plan.h"

namespace tradeoff {
namespace {

TEST(Stated, ComparesTheNumbersAsWritten) {
  const Plan plan = parse("dp(epsilon=0.1, delta=1e-5)");
  EXPECT_TRUE(states(plan, read_number("0.1"), read_number("0.00001")));
  EXPECT_TRUE(states(plan, read_number("0.2"), read_number("1e-4")));
  EXPECT_FALSE(states(plan, read_number("0.1"), read_number("0.00000999999999999999999999")));
  EXPECT_FALSE(states(plan, read_number("0.09999999999999999999999"), read_number("1e-5")));
  EXPECT_EQ(stated_epsilon(plan, read_number("1e-5")), read_number("0.1").value.hi);
  EXPECT_EQ(stated_epsilon(plan, read_number("9.9999999999999999999e-6")), HUGE_VAL);
}

TEST(Stated, TakesTheStrongestOfSeveral) {
  const Plan plan = parse("constraints([(1, 1e-9), (0.5, 1e-6), (0.25, 1/3)])");
  EXPECT_EQ(stated_epsilon(plan, read_number("1e-6")), 0.5);
  EXPECT_EQ(stated_epsilon(plan, read_number("1e-7")), 1);
  EXPECT_EQ(stated_epsilon(plan, read_number("1/3")), 0.25);
  EXPECT_EQ(stated_epsilon(plan, read_number("1e-10")), HUGE_VAL);
}

TEST(Stated, SaysNothingOfOtherPlans) {
  for (const char* text : {"dp(1, 1e-5) | repeat(2)", "dp(1, 1e-5); dp(1, 1e-5)", "gaussian(sigma=1)", "(dp(1, 1e-5))"})
    EXPECT_TRUE(stated_guarantees(parse(text)).empty()) << text;
}

}  // namespace
}  // namespace tradeoff
