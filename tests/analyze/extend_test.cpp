// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "support/matchers.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// [longer-plan] A curve that was extended line by line answers like one made at once.
namespace tradeoff::detail {
namespace {

void expect_equal(const Curve& grown, const Curve& whole, double width, const std::string& text) {
  for (const double delta : {1e-3, 1e-6, 1e-12}) {
    const Interval one = grown.epsilon_at(delta), other = whole.epsilon_at(delta);
    EXPECT_LE(one.lo, other.hi) << text;
    EXPECT_GE(one.hi, other.lo) << text;
    EXPECT_LE(one.width(), width + 4 * other.width()) << text;
  }
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Interval one = grown.delta_at(Interval::exactly(0.5), direction), other = whole.delta_at(Interval::exactly(0.5), direction);
    EXPECT_LE(one.lo, other.hi) << text;
    EXPECT_GE(one.hi, other.lo) << text;
  }
}

TEST(Extend, AddsStepsOneByOne) {
  const Plan step = parse("gaussian(sigma=1) | poisson(rate=0.0078125)");
  Curve curve = analyze(parse("gaussian(sigma=1) | poisson(rate=0.0078125) | repeat(199)"), Neighbours::add_remove);
  const int last = 200 + test::scaled(400);
  double before = 0;
  for (int steps = 200; steps <= last; ++steps) {
    curve = extend(curve, step);
    const Interval epsilon = curve.epsilon_at(1e-6);
    EXPECT_GE(epsilon.hi, before) << steps;
    before = epsilon.lo;
    if (steps % 50 != 0) continue;
    const std::string text = "gaussian(sigma=1) | poisson(rate=0.0078125) | repeat(" + std::to_string(steps) + ")";
    expect_equal(curve, analyze(parse(text)), 1e-9, text);
  }
}

// Every kind of line after every other: lines that merge, lines with atoms, lines that may reveal everything, lines known only by a bound.
TEST(Extend, TakesAnyLineAfterAnyOther) {
  const std::vector<std::string> lines = {"gaussian(sigma=1) | poisson(rate=0.0078125) | repeat(300)",
                                          "gaussian(sigma=2) | poisson(rate=0.03125) | repeat(150)",
                                          "gaussian(sigma=4)",
                                          "gaussian(sigma=8) | repeat(3)",
                                          "laplace(scale=16) | repeat(20)",
                                          "randomized_response(epsilon=0.125) | repeat(5)",
                                          "dp(0, 1e-9)",
                                          "dp(0.25)"};
  std::mt19937 random(20);
  for (int trial = 0; trial < test::scaled(20); ++trial) {
    std::string text = lines[random() % lines.size()];
    Curve grown = analyze(parse(text), Neighbours::add_remove);
    for (int more = 0; more < 4; ++more) {
      if (random() % 2 == 0) (void)grown.epsilon_at(1e-6);  // with and without results to inherit
      const std::string& line = lines[random() % lines.size()];
      grown = extend(grown, parse(line));
      text += "; " + line;
    }
    expect_equal(grown, analyze(parse(text), Neighbours::add_remove), 1e-6, text);
  }
}

TEST(Extend, ContinuesAStatedCurve) {
  const Curve curve = analyze(parse("dp(1, 1e-5)"));
  const Interval epsilon = extend(curve, parse("dp(0.5)")).epsilon_at(2e-5);
  EXPECT_GT(epsilon.lo, 1);
  EXPECT_LE(epsilon.hi, 1.5);
}

TEST(Extend, KeepsTheNeighbouringRelation) {
  const Curve fixed = analyze(parse("gaussian(sigma=1) | sample(size=1, of=10)"));
  const Curve added = analyze(parse("gaussian(sigma=1) | poisson(rate=0.1)"));
  EXPECT_THROW((void)extend(added, parse("gaussian(sigma=1) | sample(size=1, of=10)")), DomainError);
  const Curve unstated = analyze(parse("laplace(scale=1)"));
  EXPECT_THROW((void)extend(unstated, parse("gaussian(sigma=1) | poisson(rate=0.1)")), DomainError);
  EXPECT_EQ(extend(fixed, parse("laplace(scale=1)")).neighbours(), Neighbours::replace_one);
}

}  // namespace
}  // namespace tradeoff::detail
