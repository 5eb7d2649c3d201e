// SPDX-License-Identifier: Apache-2.0
// [canonical-constraints]
#include "mechanism/constraints.h"

#include <gtest/gtest.h>

#include <random>

#include "numeric/arithmetic.h"
#include "support/ball.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Ball;
using test::Encloses;
using test::golden_interval;
using test::IsTight;

Guarantee exactly(double epsilon, double delta) { return {Interval::exactly(epsilon), Interval::exactly(delta)}; }

TEST(Constraints, HaveTheKnownWeights) {
  const auto two =
      canonical_constraints({{golden_interval("0.6"), golden_interval("0.2")}, {golden_interval("1.2"), golden_interval("0")}});
  ASSERT_EQ(two.active.size(), 2U);
  EXPECT_TRUE(two.active.front().epsilon.contains(1.2));  // steepest first, whatever the order of the input
  EXPECT_THAT(two.weights.back(), Encloses("0.42321464115445696863"));
  EXPECT_THAT(two.weights.back(), IsTight(1e-14));
  const auto three = canonical_constraints({exactly(1.5, 0), exactly(0.9, 0.05), exactly(0.35, 0.2)});
  ASSERT_EQ(three.weights.size(), 3U);
  EXPECT_NEAR(three.weights[0].lo, 0.1355454, 1e-7);
  EXPECT_NEAR(three.weights[1].lo, 0.41317899, 1e-8);
  EXPECT_NEAR(three.weights[2].lo, 0.45127561, 1e-8);
}

TEST(Constraints, SumToWhatIsNotRevealed) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Guarantee> list;
    for (int i = static_cast<int>(7 * unit(random)); i >= 0; --i) list.push_back(exactly(3 * unit(random), unit(random) * unit(random)));
    const auto canonical = canonical_constraints(list);
    Interval sum = Interval::exactly(0);
    for (std::size_t i = 0; i < canonical.active.size(); ++i) {
      sum = sum + canonical.weights[i];
      EXPECT_GT(canonical.weights[i].lo, 0);
      if (i == 0) continue;
      EXPECT_LT(canonical.active[i].epsilon.hi, canonical.active[i - 1].epsilon.lo);
      EXPECT_GT(canonical.active[i].delta.lo, canonical.active[i - 1].delta.hi);
    }
    EXPECT_THAT(sum, Encloses(1 - canonical.active.front().delta));
    EXPECT_EQ(canonical.notes.size() + canonical.active.size(), list.size());
  }
}

/// max over all the lines of the profile dual: delta(e) = 1 - min over alpha of f(alpha) + e^e alpha, alpha among all crossings.
Ball delta_by_lines(const std::vector<Guarantee>& list, double at) {
  std::vector<std::pair<Ball, Ball>> lines{{Ball(0), Ball(0)}};
  for (const Guarantee& one : list) {
    const Ball odds = exp(Ball(one.epsilon.lo));
    const Ball rest = Ball(1) - Ball(one.delta.lo);
    lines.emplace_back(-odds, rest);
    lines.emplace_back(Ball(-1) / odds, rest / odds);
  }
  std::vector<Ball> alphas{Ball(0), Ball(1)};
  for (const auto& a : lines)
    for (const auto& b : lines)
      if (arb_contains_zero((a.first - b.first).get()) == 0) alphas.push_back((b.second - a.second) / (a.first - b.first));
  Ball best(-1);
  for (const Ball& alpha : alphas) {
    if (arb_is_negative(alpha.get()) != 0 || arb_gt(alpha.get(), Ball(1).get()) != 0) continue;
    Ball f(0);
    for (const auto& [slope, intercept] : lines) {
      const Ball value = slope * alpha + intercept;
      if (arb_gt(value.get(), f.get()) != 0) f = value;
    }
    const Ball delta = Ball(1) - f - exp(Ball(at)) * alpha;
    if (arb_gt(delta.get(), best.get()) != 0) best = delta;
  }
  return best;
}

TEST(Constraints, HaveTheProfileOfTheirLines) {
  Ball::precision = 200;
  std::mt19937 random(6);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Guarantee> list;
    for (int i = static_cast<int>(4 * unit(random)); i >= 0; --i)
      list.push_back(exactly(unit(random) < 0.1 ? 0 : 3 * unit(random), unit(random) < 0.3 ? 0 : unit(random) * unit(random)));
    const ConstraintsLoss loss(list);
    for (const double at : {-1.5, 0.0, 0.3, 1.0, 2.0, 4.0}) {
      const Interval delta = loss.delta(Direction::remove, Interval::exactly(at));
      EXPECT_TRUE(test::holds(delta, delta_by_lines(list, at))) << ::testing::PrintToString(delta) << " at " << at;
      EXPECT_TRUE(delta.width() < 1e-15 || ::testing::Value(delta, IsTight(1e-12)));
    }
  }
}

TEST(Constraints, DropRedundantConstraints) {
  // Same steepest slope twice, a dominated pair, a line that wins only beyond the diagonal, delta = 1.
  EXPECT_EQ(canonical_constraints({exactly(1, 0.1), exactly(1, 0.05)}).active.size(), 1U);
  EXPECT_EQ(canonical_constraints({exactly(1, 0.1), exactly(1, 0.05)}).active.front().delta, Interval::exactly(0.05));
  EXPECT_EQ(canonical_constraints({exactly(1, 0.1), exactly(0.5, 0.05)}).active.size(), 1U);
  EXPECT_EQ(canonical_constraints({exactly(1, 0), exactly(0.9, 0.5)}).active.size(), 1U);
  EXPECT_EQ(canonical_constraints({exactly(1, 0), exactly(0.2, 1)}).active.size(), 1U);
  EXPECT_EQ(canonical_constraints({exactly(1, 0.1), exactly(0.5, 0.05)}).notes.size(), 1U);
  EXPECT_EQ(ConstraintsLoss({exactly(3, 1)}).delta(Direction::remove, Interval::exactly(5)), Interval::exactly(1));
}

TEST(Constraints, TakeATieForImplied) {
  // The profile of randomised response itself as a second constraint: it touches the corner, and rounding hides on which side.
  const double epsilon = 1;
  const double total_variation = std::tanh(0.5);
  const ConstraintsLoss loss({exactly(epsilon, 0), exactly(0, total_variation)});
  EXPECT_LE(loss.atoms(Direction::remove)->slack, 1e-14);
  EXPECT_TRUE(test::holds(loss.delta(Direction::remove, Interval::exactly(0)),
                          delta_by_lines({exactly(epsilon, 0), exactly(0, total_variation)}, 0)));
}

TEST(Constraints, AnswerForHugeEpsilons) {
  const ConstraintsLoss loss({exactly(2000, 0), exactly(800, 1e-3), exactly(1, 0.5)});
  EXPECT_EQ(loss.canonical().active.size(), 3U);
  EXPECT_THAT(loss.delta(Direction::remove, Interval::exactly(2001)), Encloses(0.0));
  EXPECT_THAT(loss.delta(Direction::remove, Interval::exactly(1)), Encloses(0.5));
  EXPECT_THAT(loss.delta(Direction::remove, Interval::exactly(1)), IsTight(1e-12));
}

TEST(Constraints, RefuseInvalidGuarantees) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Guarantee& bad :
       {exactly(-0.1, 0), exactly(1, -1e-9), exactly(1, 1.1), exactly(infinity, 0), exactly(nan, 0), exactly(1, nan)})
    EXPECT_THROW((void)canonical_constraints({bad}), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail
