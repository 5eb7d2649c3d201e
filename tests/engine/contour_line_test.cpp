// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/contour/line.h"
#include "engine/exact/exact.h"
#include "loss/gaussian_profile.h"
#include "loss/loss.h"
#include "mechanism/gaussian.h"
#include "mechanism/randomized_response.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"
#include "transform/atoms_transform.h"

// The terms of the error budget one by one: each is made so large that omitting it would be visible; the enclosure must still contain the
// true value. [contour-inversion] [contour-alias] [contour-truncation] [contour-march] [contour-propagation] [longer-plan]
// [contour-recurrence] [contour-arc]
namespace tradeoff::detail {
namespace {

constexpr ContourLine::Accuracy fine_accuracy{1e-13, 1e-13};

ContourPlan gaussian_plan(double mu) {
  ContourPlan plan;
  plan.gaussian = Interval::exactly(mu * mu);
  plan.largest_loss = infinity;
  plan.steps = 1;
  return plan;
}

/// A plan of equal subsampled steps that owns its loss.
struct Training {
  Training(double mu, double rate, double steps, Direction direction)
      : loss(subsampled_gaussian(Interval::exactly(mu), Interval::exactly(rate))) {
    plan.items.push_back({loss, {loss, loss->transform(direction)}, steps});
    plan.steps = steps;
    plan.largest_loss = infinity;
  }
  LossPointer loss;
  ContourPlan plan;
};

std::unique_ptr<const ContourMoments> moments_of(const ContourPlan& plan, double order, double longest = 0, int effort = 0) {
  return ContourMoments::prepare(plan, {0, order + 6, 1, effort, false, order, longest});
}

/// Value minus true value, in units of exp(base).
double excess_of(const ContourLine::Value& value, double log_truth) { return value.value - std::exp(log_truth - value.base.lo); }

// The bound of the slope that replaces a second sum at the far end of a short interval of epsilon.
TEST(ContourLine, FallBoundsTheSlope) {
  const double mu = 1.5;
  const ContourPlan plan = gaussian_plan(mu);
  for (const double epsilon : {0.25, 1.0, 3.0, 7.0}) {
    const double order = 0.5 + epsilon / (mu * mu);
    const auto moments = moments_of(plan, order);
    const ContourLine line(*moments, *moments, order, epsilon, fine_accuracy);
    const auto value = line.at(epsilon);
    const double slope = std::exp(epsilon) * 0.5 * std::erfc((epsilon / mu + mu / 2) / std::sqrt(2.0)) / std::exp(value.base.lo);
    EXPECT_GE(value.fall, slope * (1 - 1e-13)) << epsilon;
    EXPECT_LE(value.fall, slope * (1 + 1e-9)) << epsilon;
  }
}

/// The polynomial of an arc, by Lagrange's formula.
double polynomial(const Arc& arc, double epsilon) {
  double above = 0, below = 0;
  for (std::size_t i = 0; i < Arc::size; ++i) {
    if (epsilon == arc.points[i]) return arc.values[i];
    const double weight = (i % 2 == 0 ? 1 : -1) * std::sin((2 * static_cast<double>(i) + 1) * std::acos(-1.0) / (2.0 * Arc::size));
    above += weight * arc.values[i] / (epsilon - arc.points[i]);
    below += weight / (epsilon - arc.points[i]);
  }
  return above / below;
}

// [contour-arc] From arcs that follow to the last digits to arcs that do not follow at all.
TEST(ContourLine, ArcsAreOnTheSafeSideOverAnyLength) {
  const double mu = 1.5;
  const ContourPlan plan = gaussian_plan(mu);
  int lost = 0, close = 0;
  for (const double order : {1.2, -0.4})
    for (double length = 0.1; length < 200; length *= 1.4) {
      const double start = 0.5;
      const auto moments = order > 0 ? moments_of(plan, order) : ContourMoments::prepare(plan, {-1, 0, 1, 0, false, order, 0});
      const ContourLine line(*moments, *moments, order, start, fine_accuracy);
      const auto arc = line.arc(start, start + length);
      ASSERT_TRUE(arc);
      double furthest = 0;
      for (int i = 0; i <= 500; ++i) {
        const double epsilon = start + length * i / 500;
        const Interval at = Interval::exactly(epsilon), m = Interval::exactly(mu);
        const Interval known = order > 0 ? log_gaussian_delta(m, at) : log_gaussian_complement(m, at);
        const double truth = std::exp(known.lo + order * epsilon - arc->base), follows = polynomial(*arc, epsilon);
        const double rounding = 1e-13 * std::abs(follows);
        if (order > 0)
          EXPECT_LE(truth, follows + arc->error + rounding) << length;
        else
          EXPECT_GE(truth, follows - arc->error - rounding) << length;
        furthest = std::max(furthest, std::abs(truth - follows));
      }
      lost += furthest > 1e-3;
      close += arc->error < 1e-11;
    }
  EXPECT_GE(lost, 2) << "no arc is so long that its polynomial does not follow";
  EXPECT_GE(close, 8);
}

// With a short window the copies overlap: the sum is too large, by at most the alias term, and by more than all the other terms.
TEST(ContourLine, AliasErrorIsBounded) {
  const double mu = 1;
  const ContourPlan plan = gaussian_plan(mu);
  for (const double epsilon : {0.5, 2.0, 4.0}) {
    const double order = epsilon;  // near enough to the saddle
    const auto moments = moments_of(plan, order);
    const ContourLine rough(*moments, *moments, order, epsilon, {1e-2, 1e-13});
    const auto value = rough.at(epsilon);
    const Interval log_truth = log_gaussian_delta(Interval::exactly(mu), Interval::exactly(epsilon));
    const double excess = excess_of(value, log_truth.lo);
    EXPECT_GT(excess, 2 * (value.nodes + value.truncation)) << "the alias is too small to be seen";
    EXPECT_LE(excess, value.alias + value.nodes + value.truncation);
  }
}

// Truncated early, the sum misses the rest, by at most the truncation term.
TEST(ContourLine, TruncationIsBounded) {
  Training run(1, 0.0078125, 1000, Direction::remove);
  const double order = 6, epsilon = 1.5;
  const auto moments = moments_of(run.plan, order, 30);
  const ContourLine fine(*moments, *moments, order, epsilon, fine_accuracy);
  const auto truth = fine.at(epsilon);
  bool seen = false;
  for (const double accuracy : {1.0, 1e-1, 1e-2, 1e-4}) {
    const ContourLine rough(*moments, *moments, order, epsilon, {1e-13, accuracy});
    const auto value = rough.at(epsilon);
    const double away = std::abs(value.value - truth.value);
    EXPECT_LE(away, value.truncation + value.alias + value.nodes + truth.below) << accuracy;
    EXPECT_LE(truth.value - value.value, value.above + truth.below) << accuracy;  // the answer contains it too
    EXPECT_LE(value.value - truth.value, value.below + truth.above) << accuracy;
    EXPECT_LT(value.truncation, 10 * accuracy * value.value) << accuracy;
    seen = seen || away > 10 * (value.nodes + value.alias);
  }
  EXPECT_TRUE(seen) << "no truncation could be told from the other terms";
}

// Coarse quadratures move every node; the difference from fine ones is within the stated error of the nodes and is not rounding.
TEST(ContourLine, QuadratureErrorOfTheNodesIsBounded) {
  Training run(1, 0.0078125, 1000, Direction::remove);
  const double order = 6, epsilon = 1.5;
  const auto fine_moments = moments_of(run.plan, order, 30, 1);
  const auto truth = ContourLine(*fine_moments, *fine_moments, order, epsilon, fine_accuracy).at(epsilon);
  const auto coarse_moments = moments_of(run.plan, order, 0, -1);
  const auto value = ContourLine(*coarse_moments, *coarse_moments, order, epsilon, fine_accuracy).at(epsilon);
  const double log_away = std::abs(std::log(value.value) + value.base.lo - std::log(truth.value) - truth.base.lo);
  const double allowed =
      (value.nodes + value.truncation + value.alias) / value.value + value.base.width() + truth.base.width() + truth.below / truth.value;
  EXPECT_LE(log_away, allowed);
  EXPECT_GT(log_away, 1e-14);
  EXPECT_GT(allowed, 1e-12) << "coarse quadratures were taken for exact ones";
}

// Every line through the same point gives the same value, whatever its order.
TEST(ContourLine, DoesNotDependOnItsOrder) {
  Training run(1, 0.0078125, 2000, Direction::add);
  const double epsilon = 2;
  double low = -infinity, high = infinity;
  for (const double order : {3.0, 6.0, 8.0, 10.0, 13.0}) {
    const auto moments = moments_of(run.plan, order, 25);
    const auto value = ContourLine(*moments, *moments, order, epsilon, fine_accuracy).at(epsilon);
    ASSERT_GT(value.value, value.below);
    low = std::max(low, value.base.lo + std::log(value.value - value.below) - 1e-14);
    high = std::min(high, value.base.hi + std::log(value.value + value.above) + 1e-14);
  }
  EXPECT_LE(low, high);
  EXPECT_LT(high - low, 1e-10);
}

double log_of(const ContourLine::Value& value, double shift) { return value.base.lo + std::log(value.value + shift); }

// A line reused for twice the steps, with a short window: the copies overlap and the alias term includes them.
TEST(ContourLine, IsReusedForALongerPlanWithItsAdditionalError) {
  Training run(1, 0.0078125, 1000, Direction::remove);
  const double order = 6, epsilon = 2;
  const auto moments = moments_of(run.plan, order, 30);
  const ContourLine line(*moments, *moments, order, epsilon, {1e-6, 1e-13});
  ContourPlan longer = run.plan;
  bool seen = false;
  for (const double steps : {1001.0, 1400.0, 2000.0, 3000.0}) {
    longer.items[0].times = longer.steps = steps;
    const auto stretched = line.extended(longer);
    ASSERT_NE(stretched, nullptr);
    const auto value = stretched->at(epsilon);
    const auto fine = moments_of(longer, order, 30);
    const auto truth = ContourLine(*fine, *fine, order, epsilon, fine_accuracy).at(epsilon);
    EXPECT_LE(log_of(value, -value.below), log_of(truth, truth.above)) << steps;
    EXPECT_GE(log_of(value, value.above), log_of(truth, -truth.below)) << steps;
    seen = seen || log_of(value, -value.nodes - value.truncation) > log_of(truth, truth.above) + 1e-9;
  }
  EXPECT_TRUE(seen) << "the alias of the longer plan is too small to be seen";
}

TEST(ContourLine, EvaluatesOnlyWhatIsNew) {
  Training run(1, 0.0078125, 1000, Direction::remove), other(0.5, 0.015625, 300, Direction::remove);
  const double order = 6, epsilon = 2;
  ContourPlan longer = run.plan;
  longer.items.push_back(other.plan.items[0]);
  longer.gaussian = Interval::exactly(0.0625);
  longer.steps += 301;
  const auto moments = moments_of(run.plan, order, 30), both = moments_of(longer, order, 30);
  const auto line = ContourLine(*moments, *moments, order, epsilon, fine_accuracy).extended(longer);
  ASSERT_NE(line, nullptr);
  const auto value = line->at(epsilon), truth = ContourLine(*both, *both, order, epsilon, fine_accuracy).at(epsilon);
  EXPECT_NEAR(log_of(value, 0), log_of(truth, 0), value.below / value.value + 1e-12);
  EXPECT_LT(value.below, 1e-9 * value.value);
}

TEST(ContourLine, RefusesAPlanThatIsNotLonger) {
  Training run(1, 0.0078125, 1000, Direction::remove), other(1, 0.0078125, 1000, Direction::remove);
  const auto moments = moments_of(run.plan, 6, 30);
  const ContourLine line(*moments, *moments, 6, 2, fine_accuracy);
  EXPECT_NE(line.extended(run.plan), nullptr);
  EXPECT_EQ(line.extended(other.plan), nullptr) << "another loss, though equal";
  run.plan.items[0].times = 999;
  EXPECT_EQ(line.extended(run.plan), nullptr) << "what was proved beyond the nodes needs a thousand steps";
  run.plan.items.clear();
  EXPECT_EQ(line.extended(run.plan), nullptr);
}

// On the strip the same sum gives 1 - delta, and the alias lies on the other side of delta.
TEST(ContourLine, StripGivesTheComplement) {
  const double mu = 4, epsilon = 1;
  const ContourPlan plan = gaussian_plan(mu);
  const Interval truth = log_gaussian_complement(Interval::exactly(mu), Interval::exactly(epsilon));
  const auto moments = ContourMoments::prepare(plan, {-1, 0, 1, 0, false, -0.4, 0});
  const auto value = ContourLine(*moments, *moments, -0.4, epsilon, fine_accuracy).at(epsilon);
  EXPECT_LE(value.base.lo + std::log(value.value - value.below), truth.hi + 1e-14);
  EXPECT_GE(value.base.hi + std::log(value.value + value.above), truth.lo - 1e-14);
  EXPECT_LT(value.below, 1e-10 * value.value);
  const auto rough = ContourLine(*moments, *moments, -0.4, epsilon, {1e-3, 1e-13}).at(epsilon);
  EXPECT_GT(rough.value, std::exp(truth.hi - rough.base.lo)) << "the trapezoid over-estimates 1 - delta";
}

// The transform of atoms never decays: the line must report that instead of marching forever.
TEST(ContourLine, ReportsAtomsThatDoNotDecay) {
  Training run(20, 0.5, 3, Direction::add);  // next to two atoms
  const auto moments = moments_of(run.plan, 2);
  ASSERT_NE(moments, nullptr);
  const auto value = ContourLine(*moments, *moments, 2, 0.5, fine_accuracy).at(0.5);
  EXPECT_FALSE(value.truncation < 1e-6 * value.value);
}

// NaN is never accepted: an order beyond the nodes gives infinite bounds, not small ones.
TEST(ContourLine, IsInfinitelyWideWhereMomentsAreUnknown) {
  Training run(1, 0.0078125, 1000, Direction::remove);
  const auto moments = ContourMoments::prepare(run.plan, {0, 1, 1, 0, false, 1, 0});
  const auto value = ContourLine(*moments, *moments, 60, 100, fine_accuracy).at(100);
  EXPECT_FALSE(value.below < value.value);
}

// [contour-recurrence] The law of two atoms is periodic: beyond the nodes |phi| is 1 again and again, and at a value of the loss all of it
// adds up. The bound holds, and it is not idle: without it the truth lies outside.
TEST(ContourLine, RecurrencesAreBoundedByTheirMean) {
  const LossPointer loss = randomized_response(Interval::exactly(1), 2);
  for (const double steps : {40.0, 41.0}) {
    ContourPlan plan;
    plan.items.push_back({loss, atoms_transform(*loss->atoms(Direction::remove)), steps});
    plan.steps = steps;
    plan.largest_loss = steps;
    const LossPointer exact = compose_exactly({{loss, static_cast<std::uint64_t>(steps)}}, {});
    for (const double epsilon : {steps - 14, steps - 12, steps - 10}) {  // values of the loss
      const double order = 1;
      const auto moments = moments_of(plan, order);
      const ContourLine line(*moments, *moments, order, epsilon, fine_accuracy);
      const auto value = line.at(epsilon);
      const double excess = excess_of(value, exact->log_delta(Direction::remove, Interval::exactly(epsilon)).lo);
      EXPECT_LE(-value.above, excess) << steps << ' ' << epsilon;
      EXPECT_GE(value.below, excess) << steps << ' ' << epsilon;
      EXPECT_LT(value.truncation, 0.3 * value.value) << steps << ' ' << epsilon;
      EXPECT_GT(std::abs(excess), 10 * value.nodes) << "nothing is missing beyond the nodes";
    }
  }
}

// [contour-recurrence] Nodes that the march bounds one by one. With a coarse accuracy they are most of what is missing: some of these
// answers miss the truth if they are not counted.
TEST(ContourLine, NodesBoundedOneByOneAreCounted) {
  const LossPointer often = randomized_response(Interval::exactly(1), 2), rarely = randomized_response(Interval::exactly(0.3), 2);
  for (const std::uint64_t times : {6U, 10U}) {
    ContourPlan plan;
    plan.items.push_back({often, atoms_transform(*often->atoms(Direction::remove)), 20});
    plan.items.push_back({rarely, atoms_transform(*rarely->atoms(Direction::remove)), static_cast<double>(times)});
    plan.steps = 20 + static_cast<double>(times);
    plan.largest_loss = 24;
    const LossPointer exact = compose_exactly({{often, 20}, {rarely, times}}, {});
    const auto moments = moments_of(plan, 1);
    for (const double accuracy : {0.1, 0.03})
      for (double epsilon = 9.2; epsilon < 15.3; epsilon += 0.25) {
        const auto value = ContourLine(*moments, *moments, 1, epsilon, {1e-13, accuracy}).at(epsilon);
        const double excess = excess_of(value, exact->log_delta(Direction::remove, Interval::exactly(epsilon)).lo);
        EXPECT_LE(-value.above, excess) << times << ' ' << accuracy << ' ' << epsilon;
        EXPECT_GE(value.below, excess) << times << ' ' << accuracy << ' ' << epsilon;
      }
  }
}

}  // namespace
}  // namespace tradeoff::detail
