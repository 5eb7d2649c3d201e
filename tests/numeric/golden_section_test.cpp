// SPDX-License-Identifier: Apache-2.0
#include "numeric/golden_section.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tradeoff::numeric {
namespace {

TEST(GoldenSection, FindsAValleyInsideAndAtTheEnds) {
  const auto valley = [](double x) { return std::abs(x - 0.3); };
  EXPECT_NEAR(golden_section(valley, -1, 1, 1e-9), 0.3, 1e-8);
  EXPECT_NEAR(golden_section(valley, 0.5, 2, 1e-9), 0.5, 1e-8);
  EXPECT_NEAR(golden_section(valley, -2, 0.1, 1e-9), 0.1, 1e-8);
}

TEST(GoldenSection, EndsHoweverPreciseItIsAsked) {
  EXPECT_NEAR(golden_section([](double x) { return std::abs(x - 1e9); }, 0, 1e10, 0), 1e9, 1e-5);
  EXPECT_EQ(golden_section([](double x) { return x; }, 5, 5, 0), 5);
}

}  // namespace
}  // namespace tradeoff::numeric
