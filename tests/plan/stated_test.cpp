// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
  EXPECT_FALSE(at_most("2/6", "1/3")) << "not told apart: never taken for equal";
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
