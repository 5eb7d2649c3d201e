// SPDX-License-Identifier: Apache-2.0
#include "numeric/minimize.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tradeoff::detail::numeric {
namespace {

TEST(GoldenSection, FindsAValleyInsideAndAtTheEnds) {
  const auto valley = [](double x) { return std::abs(x - 0.3); };
  EXPECT_NEAR(golden_section(valley, -1, 1, 1e-9).best, 0.3, 1e-8);
  EXPECT_NEAR(golden_section(valley, 0.5, 2, 1e-9).best, 0.5, 1e-8);
  EXPECT_NEAR(golden_section(valley, -2, 0.1, 1e-9).best, 0.1, 1e-8);
}

TEST(ParabolicSection, FindsTheSameValleysWithFewerEvaluations) {
  int evaluations = 0;
  const auto smooth = [&](double x) { return ++evaluations, std::cosh(x - 0.3); };
  EXPECT_NEAR(parabolic_section(smooth, -4, 5, 1e-7), 0.3, 1e-6);
  EXPECT_LT(evaluations, 25);
  const auto corner = [](double x) { return std::abs(x - 0.3) + (x > 0.3 ? x : 0.3); };
  EXPECT_NEAR(parabolic_section(corner, -1, 1, 1e-9), 0.3, 1e-8);
  EXPECT_NEAR(parabolic_section(corner, 0.5, 2, 1e-9), 0.5, 1e-8);
  EXPECT_NEAR(parabolic_section(corner, -2, 0.1, 1e-9), 0.1, 1e-8);
  EXPECT_EQ(parabolic_section(corner, 5, 5, 0), 5);
}

TEST(GoldenSection, EndsForAnyRequestedPrecision) {
  EXPECT_NEAR(golden_section([](double x) { return std::abs(x - 1e9); }, 0, 1e10, 0).best, 1e9, 1e-5);
  EXPECT_EQ(golden_section([](double x) { return x; }, 5, 5, 0).best, 5);
}

}  // namespace
}  // namespace tradeoff::detail::numeric
