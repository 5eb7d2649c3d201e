// SPDX-License-Identifier: Apache-2.0
// The counts and error terms of every engine. The checker of certificates shows, in ball arithmetic, that the enclosures contain the true
// values; these tests show that the descriptions are complete.
#include "loss/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "curve/curve_state.h"
#include "numeric/arithmetic.h"
#include "tradeoff/analyze.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

double sum_of_errors(const Evaluation& evaluation) {
  double sum = 0;
  for (const auto& [name, error] : evaluation.errors) {
    EXPECT_GE(error, 0) << name;
    sum += error;
  }
  return sum;
}

void expect_balance(const Evaluation& evaluation) {
  EXPECT_LE(sum_of_errors(evaluation), std::expm1(evaluation.log_delta.width()) * (1 + 1e-9) + 1e-14) << evaluation.theorem;
}

struct Case {
  const char* plan;
  const char* theorem;
  const char* count;  // a count that must be present
};

TEST(Evaluation, EveryEngineDescribesItsComputation) {
  for (const auto& [text, theorem, count] :
       {Case{"gaussian(sigma=1.1) | poisson(rate=0.01) | repeat(2000)", "contour-inversion", "nodes"},
        Case{"laplace(scale=3) | repeat(30)", "density-powers", "cells"},
        Case{"laplace(scale=0.5) | poisson(rate=0.5) | repeat(2); laplace(scale=1) | poisson(rate=0.5)", "contour-remainder", "atoms"},
        Case{"gaussian(sigma=1.3) | poisson(rate=0.2) | repeat(3)", "bent-contour", "nodes"},
        Case{"dp(epsilon=0.1) | repeat(40)", "exact-composition", "atoms"},
        Case{"truncated_laplace(scale=2, bound=9) | repeat(3)", "bent-contour", "summands"},
        Case{"sqrt_log_family(a=1, b=0.5, sigma=3) | repeat(3); gaussian(sigma=2)", "tilted-fft", "points"}}) {
    const Curve curve = analyze(parse(text));
    for (const double epsilon : {0.7, -0.4}) {
      const std::vector<Evaluation> found = evaluations_of(*loss_of(curve), Direction::remove, epsilon);
      ASSERT_FALSE(found.empty()) << text;
      bool named = false;
      for (const Evaluation& one : found) {
        expect_balance(one);
        // An epsilon below 0 may be answered by the other direction.
        const Interval known = curve.log_delta_at(Interval::exactly(one.epsilon), one.direction);
        EXPECT_TRUE(one.epsilon == epsilon || (one.epsilon == -epsilon && one.direction == Direction::add));
        EXPECT_TRUE(one.log_delta.lo <= known.hi && known.lo <= one.log_delta.hi) << text << " " << one.theorem;
        if (one.theorem != theorem) continue;
        named = true;
        EXPECT_THAT(one.counts, Contains(Key(std::string(count))));
        EXPECT_FALSE(one.errors.empty());
      }
      EXPECT_TRUE(named) << text;
    }
  }
}

TEST(Evaluation, AClosedFormIsOneEnclosure) {
  const Curve curve = analyze(parse("gdp(mu=1)"));
  const std::vector<Evaluation> found = evaluations_of(*loss_of(curve), Direction::remove, 1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().theorem, "gaussian-profile");
  EXPECT_EQ(found.front().log_delta, curve.log_delta_at(Interval::exactly(1), Direction::remove));
  EXPECT_THAT(found.front().counts, Not(Contains(Key(std::string("nodes")))));
  expect_balance(found.front());
}

TEST(Evaluation, ErrorsAddUpToTheWidth) {
  const Evaluation one = balanced({"x", Direction::remove, 1, {-3, -2}, {}, {}, {{"a", 0.25}}}, "rest");
  ASSERT_EQ(one.errors.size(), 2U);
  EXPECT_NEAR(one.errors.back().second, std::expm1(1.0) - 0.25, 1e-12);
  EXPECT_EQ(one.log_delta, (Interval{-3, -2}));
}

TEST(Evaluation, ErrorsThatOverlapWidenTheEnclosure) {
  const Evaluation one = balanced({"x", Direction::remove, 1, {-3, -2.99}, {}, {}, {{"a", 0.25}, {"b", 0.5}}}, "");
  EXPECT_EQ(one.log_delta.lo, -3);
  EXPECT_GE(one.log_delta.hi, -3 + std::log1p(0.75));
  expect_balance(one);
}

TEST(Evaluation, AnUnknownErrorIsInfinite) {
  const Evaluation one = balanced({"x", Direction::remove, 1, {-3, -2}, {}, {}, {{"a", std::nan("")}}}, "rest");
  EXPECT_EQ(one.log_delta, Interval::whole());
  EXPECT_EQ(one.errors.front().second, infinity);
  const Evaluation open = balanced({"x", Direction::remove, 1, {-infinity, -2}}, "rest");
  EXPECT_EQ(open.errors.back().second, infinity);
  EXPECT_EQ(balanced({"x", Direction::remove, 1, {-2, -2}}, "rest").errors.back().second, 0);
}

}  // namespace
}  // namespace tradeoff::detail
