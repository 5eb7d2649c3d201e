// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "numeric/root.h"

namespace tradeoff::detail::numeric {
namespace {

/// A decreasing function with error `doubt`, and the number of its calls.
template <class Function>
struct Judge {
  Function function;
  double doubt;
  double told;  // of the doubt
  int calls = 0;
  Verdict operator()(double x) {
    ++calls;
    const double value = function(x);
    return {value > doubt, value < -doubt, value, told};
  }
};

TEST(NarrowBracket, ClosesInOnACurveInAFewSteps) {
  Judge judge{[](double x) { return std::exp(-x) - 0.3; }, 0.0, 0.0};
  const double root = -std::log(0.3);
  const Interval found = narrow_bracket(judge, 0.0, 5.0);
  EXPECT_LE(found.lo, root * (1 + 1e-15));
  EXPECT_GE(found.hi, root * (1 - 1e-15));
  EXPECT_LE(found.width(), 3e-15);
  EXPECT_LE(judge.calls, 25);
}

// A step function: secants fail, and bisection must take over.
TEST(NarrowBracket, FindsAJump) {
  Judge judge{[](double x) { return x < 1.25 ? 1e6 : -1e-3; }, 0.0, 0.0};
  const Interval found = narrow_bracket(judge, 0.0, 1e3);
  EXPECT_LT(found.lo, 1.25);
  EXPECT_GE(found.hi, 1.25);
  EXPECT_LE(found.width(), 2e-15);
  EXPECT_LE(judge.calls, 300);
}

// If the answer is undecided over a range, its ends are found from the error, in fewer calls than without it.
TEST(NarrowBracket, UsesTheErrorEstimate) {
  constexpr double doubt = 1e-7;
  const auto function = [](double x) { return 2 - x; };
  Judge told{function, doubt, doubt}, untold{function, doubt, 0.0};
  const Interval found = narrow_bracket(told, -1.0, 4.0), plain = narrow_bracket(untold, -1.0, 4.0);
  for (const Interval& one : {found, plain}) {
    EXPECT_LT(one.lo, 2 - doubt);
    EXPECT_GT(one.hi, 2 + doubt);
    EXPECT_LE(one.width(), 4 * doubt);
  }
  EXPECT_LE(told.calls, 8);
  EXPECT_GT(untold.calls, told.calls);
}

// An answer that is undecided over most of the range: its ends are found by secants.
TEST(NarrowBracket, FindsTheEndsOfAWideDoubt) {
  Judge judge{[](double x) { return 2 - x; }, 0.75, 0.75};
  const Interval found = narrow_bracket(judge, 0.0, 4.0);
  EXPECT_LT(found.lo, 1.25);
  EXPECT_GT(found.hi, 2.75);
  EXPECT_LE(found.width(), 1.501);
  EXPECT_LE(judge.calls, 36);
}

// The stated error is useless: the ends are still found.
TEST(NarrowBracket, AcceptsAnyErrorEstimate) {
  for (const double told : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    Judge judge{[](double x) { return 2 - x; }, 1e-7, told};
    const Interval found = narrow_bracket(judge, -1.0, 4.0);
    EXPECT_LE(found.width(), 4.1e-7) << told;
    EXPECT_LT(found.lo, 2 - 1e-7);
    EXPECT_GT(found.hi, 2 + 1e-7);
  }
}

}  // namespace
}  // namespace tradeoff::detail::numeric
