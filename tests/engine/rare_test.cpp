// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/rare.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "engine/contour/split_plan.h"
#include "engine/contour/split_step.h"
#include "engine/hyperbolic/hyperbolic.h"
#include "loss/evaluation.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"

// [rare-losses]
namespace tradeoff::detail {
namespace {

LossPointer sampled(double mu, double rate) { return subsampled_gaussian(Interval::exactly(mu), Interval::exactly(rate)); }

Interval log_delta(const Parts& parts, double epsilon, const RareAccuracy& accuracy = {}) {
  return compose_by_rare_losses(parts, accuracy)->log_delta(Direction::remove, Interval::exactly(epsilon));
}

// The profile of one step has a closed form: window, bulk, tail, aliases and truncation add up to it.
TEST(RareLosses, OneStepIsTheClosedForm) {
  for (const auto& [mu, rate, epsilon] :
       {std::array{2.0, 1e-5, 1.0}, {2.0, 1e-5, 4.0}, {1.0, 1e-3, 0.5}, {3.0, 1e-6, 0.7}, {0.8, 1e-2, 2.0}}) {
    const LossPointer step = sampled(mu, rate);
    const Interval truth = step->log_delta(Direction::remove, Interval::exactly(epsilon)), found = log_delta({{step, 1}}, epsilon);
    EXPECT_LE(found.lo, truth.hi) << mu << ' ' << rate << ' ' << epsilon;
    EXPECT_GE(found.hi, truth.lo) << mu << ' ' << rate << ' ' << epsilon;
    EXPECT_LT(found.width(), 1e-8) << mu << ' ' << rate << ' ' << epsilon;
  }
}

// Each term of the error budget is made so large that an answer without it would miss the truth.
TEST(RareLosses, EveryTermOfTheBudgetIsCounted) {
  const LossPointer step = sampled(2, 1e-5);
  for (const double epsilon : {1.0, 1.5, 2.2, 3.0}) {
    const Interval truth = step->log_delta(Direction::remove, Interval::exactly(epsilon));
    int wide = 0;
    for (const double share : {0.3, 0.1, 1e-2, 1e-3, 1e-5})
      for (const RareAccuracy& accuracy :
           {RareAccuracy{.bulk = share}, RareAccuracy{.truncation = share}, RareAccuracy{.alias = share}, RareAccuracy{.quadrature = share},
            RareAccuracy{.coarseness = 2 + 30 * share}, RareAccuracy{share, share, share, share, 1.5}}) {
        const Interval found = log_delta({{step, 1}}, epsilon, accuracy);
        EXPECT_LE(found.lo, truth.hi) << epsilon << ' ' << share;
        EXPECT_GE(found.hi, truth.lo) << epsilon << ' ' << share;
        if (found.width() > 1e-3) ++wide;
      }
    EXPECT_GT(wide, 4) << epsilon;
  }
}

// The bulk has coarse nodes, and enough steps for its error to be seen.
TEST(RareLosses, TheQuadratureOfTheBulkIsCounted) {
  const Parts parts{{sampled(2, 1e-5), 100}};
  for (const double epsilon : {0.7, 0.91, 1.3}) {
    const Interval truth = log_delta(parts, epsilon);
    ASSERT_LT(truth.width(), 1e-9);
    for (const double coarseness : {2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
      const Interval found = log_delta(parts, epsilon, {.quadrature = 1e9, .coarseness = coarseness});
      EXPECT_LE(found.lo, truth.hi) << epsilon << ' ' << coarseness;
      EXPECT_GE(found.hi, truth.lo) << epsilon << ' ' << coarseness;
    }
  }
}

// Another engine, without a common line of code for the contour, agrees on many steps.
TEST(RareLosses, AgreesWithTheHyperbolicContour) {
  for (const auto& [mu, rate, times, epsilon] : {std::array{2.0, 1e-5, 50.0, 0.7596}, {2.0, 1e-5, 100.0, 0.91}, {2.5, 1e-4, 40.0, 3.0}}) {
    const Parts parts{{sampled(mu, rate), static_cast<std::uint64_t>(times)}};
    const Interval other = compose_by_hyperbolic_contour(parts, {})->log_delta(Direction::remove, Interval::exactly(epsilon)),
                   found = log_delta(parts, epsilon);
    EXPECT_LE(found.lo, other.hi) << mu << ' ' << times;
    EXPECT_GE(found.hi, other.lo) << mu << ' ' << times;
    EXPECT_LT(found.width(), 1e-9) << mu << ' ' << times;
  }
}

// Noise so far out that its probability bounds it: all of the law is inverted. One step has a closed form, at epsilon 0 too.
TEST(RareLosses, AFarWindowOfOneStepIsTheClosedForm) {
  for (const auto& [mu, rate] : {std::array{0.02, 0.3}, {0.05, 1e-2}, {0.1, 1e-3}, {0.1, 0.1}}) {
    const LossPointer step = sampled(mu, rate);
    const double deviation = rate * mu;
    for (const double widths : {0.0, 0.5, 2.0, 4.0}) {
      const double epsilon = widths * deviation;
      const Interval truth = step->log_delta(Direction::remove, Interval::exactly(epsilon)), found = log_delta({{step, 1}}, epsilon);
      EXPECT_LE(found.lo, truth.hi) << mu << ' ' << rate << ' ' << widths;
      EXPECT_GE(found.hi, truth.lo) << mu << ' ' << rate << ' ' << widths;
      EXPECT_LT(found.width(), 1e-7) << mu << ' ' << rate << ' ' << widths;
    }
  }
}

TEST(RareLosses, EveryTermOfAFarWindowIsCounted) {
  for (const auto& [mu, rate] : {std::array{0.1, 1e-3}, {0.05, 0.1}}) {
    const LossPointer step = sampled(mu, rate);
    const double deviation = rate * mu;
    int wide = 0;
    for (const double widths : {0.3, 1.0, 2.0, 3.0}) {
      const double epsilon = widths * deviation;
      const Interval truth = step->log_delta(Direction::remove, Interval::exactly(epsilon));
      for (const double share : {0.3, 0.1, 1e-2, 1e-3, 1e-5})
        for (const RareAccuracy& accuracy :
             {RareAccuracy{.bulk = share}, RareAccuracy{.truncation = share}, RareAccuracy{.alias = share},
              RareAccuracy{.quadrature = share}, RareAccuracy{.quadrature = 1e9, .coarseness = 2 + 30 * share}}) {
          const Interval found = log_delta({{step, 1}}, epsilon, accuracy);
          EXPECT_LE(found.lo, truth.hi) << mu << ' ' << widths << ' ' << share;
          EXPECT_GE(found.hi, truth.lo) << mu << ' ' << widths << ' ' << share;
          if (found.width() > 1e-3) ++wide;
        }
    }
    EXPECT_GT(wide, 8) << mu;
  }
}

// A tiny delta, at whose order noise beyond an upper window would decide: it is left out and bounded. One step has a closed form; with
// coarse accuracies the term of what is left out is needed.
TEST(RareLosses, BelowUpperWindowsOneStepIsTheClosedForm) {
  for (const auto& [mu, rate, epsilon] : {std::array{0.148, 0.0138, 0.5}, {0.148, 0.0138, 0.3}, {0.2, 0.0351, 0.5}, {0.6, 0.002, 3.0}}) {
    const LossPointer step = sampled(mu, rate);
    const Interval truth = step->log_delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_LT(truth.hi, -40);
    for (const RareAccuracy& accuracy : {RareAccuracy{}, RareAccuracy{.bulk = 0.3}, RareAccuracy{.bulk = 1e-3},
                                         RareAccuracy{.truncation = 1e-3}, RareAccuracy{.alias = 1e-3}, RareAccuracy{.coarseness = 2}}) {
      const Interval found = log_delta({{step, 1}}, epsilon, accuracy);
      EXPECT_LE(found.lo, truth.hi) << mu << ' ' << rate << ' ' << epsilon;
      EXPECT_GE(found.hi, truth.lo) << mu << ' ' << rate << ' ' << epsilon;
    }
    EXPECT_LT(log_delta({{step, 1}}, epsilon).width(), 1e-6) << mu << ' ' << rate << ' ' << epsilon;
  }
}

TEST(RareLosses, BelowUpperWindowsAgreesWithTheHyperbolicContour) {
  const Parts parts{{sampled(0.2036659877800407, 0.0351), 5}};
  for (const double epsilon : {0.4, 0.6}) {
    const Interval other = compose_by_hyperbolic_contour(parts, {})->log_delta(Direction::remove, Interval::exactly(epsilon)),
                   found = log_delta(parts, epsilon);
    EXPECT_LE(found.lo, other.hi) << epsilon;
    EXPECT_GE(found.hi, other.lo) << epsilon;
    EXPECT_LT(found.width(), 1e-4) << epsilon;
  }
}

// Both parts of delta are inverted where neither is negligible.
TEST(RareLosses, BothPartsAreInverted) {
  const Parts parts{{sampled(0.4032258064516129, 0.00444), 117}};
  const Interval other = compose_by_hyperbolic_contour(parts, {})->log_delta(Direction::remove, Interval::exactly(0.5)),
                 found = log_delta(parts, 0.5);
  EXPECT_LE(found.lo, other.hi);
  EXPECT_GE(found.hi, other.lo);
  EXPECT_LT(found.width(), 1e-8);
}

// The transform of the bulk by nodes on the axis and by nodes above it, which are so coarse that their error is seen.
TEST(RareLosses, NodesAboveTheAxisAgreeWithNodesOnIt) {
  constexpr double time_step = 2, longest = 300, power = 30;
  const rare::RareKind kind{2, 1e-5, unit_roundoff, unit_roundoff, 1e4};
  const rare::NoiseWindow window{5, 0.15};
  const rare::SplitStep fine(kind, window, std::nullopt, 1, 0.008);
  ASSERT_TRUE(fine.usable());
  for (const double spacing : {0.01, 0.06, 0.1, 0.13, 0.16, 0.2, 0.25}) {
    const rare::SplitStep step(kind, window, std::nullopt, 1, spacing);
    rare::SplitStep::BulkTilt on_axis(fine, power, time_step, longest);
    rare::SplitStep::RaisedBulk above(step, power, time_step, longest);
    for (double t = 0; t <= longest; t += time_step) {
      const rare::Enclosed truth = on_axis.next(), found = above.next();
      ASSERT_LT(truth.error, 1e-14) << t;
      EXPECT_LE(std::abs(truth.value - found.value), truth.error + found.error) << spacing << ' ' << t;
      if (spacing < 0.02) {
        EXPECT_LT(found.error, 1e-13) << t;
      }
    }
    if (spacing > 0.1) {
      EXPECT_GT(above.missed(), 1e-12) << spacing;
    }
  }
}

// Losses of three orders of magnitude count. The values are those of Fourier transforms on lattices of 2^24 and 2^25 points.
TEST(RareLosses, SmallRatesAndLittleNoise) {
  const QuestionScope question;
  const LossPointer composed = compose_by_rare_losses({{sampled(2, 1e-5), 10000}});
  for (const auto& [delta, truth] : {std::pair(3e-6, 0.123828799), std::pair(1e-5, 0.070389452), std::pair(1e-4, 0.022395240)}) {
    const auto epsilon = composed->closed_epsilon(Direction::remove, Interval::exactly(delta));
    ASSERT_TRUE(epsilon) << delta;
    EXPECT_NEAR(middle_of(*epsilon), truth, 3e-8) << delta;
    EXPECT_LT(epsilon->width(), 1e-8 * epsilon->hi) << delta;
  }
}

// A delta that counts as 0 is only bounded, quickly.
TEST(RareLosses, ANegligibleDeltaIsBounded) {
  const LossPointer composed = compose_by_rare_losses({{sampled(0.1, 1e-3), 40}});
  const Interval tiny = composed->delta(Direction::remove, Interval::exactly(1));
  EXPECT_EQ(tiny.lo, 0);
  EXPECT_LE(tiny.hi, Negligible::least);
  const Interval exact = composed->delta(Direction::remove, Interval::exactly(0.005));
  ASSERT_LT(exact.hi, 1e-12);
  EXPECT_GT(exact.lo, 0);
  const Negligible rest(1e-9);
  const Interval bounded = composed->delta(Direction::remove, Interval::exactly(0.005));
  EXPECT_GE(bounded.hi, exact.lo);
  EXPECT_LE(bounded.hi, 1e-9);
  EXPECT_EQ(bounded.lo, 0);
}

// A delta below all doubles is bounded by what is below them, where Renyi divergences show 1e-132 only; one step alone has more than the
// bound may hide.
TEST(RareLosses, BelowAllDoublesTheLogarithmIsBounded) {
  const LossPointer step = sampled(1 / 6.24, 0.000488), composed = compose_by_rare_losses({{step, 39}});
  const Interval at = Interval::exactly(0.5), one = step->log_delta(Direction::remove, at);
  ASSERT_LT(one.hi, -1000);
  EXPECT_LE(composed->delta(Direction::remove, at).hi, 2 * std::numeric_limits<double>::denorm_min());
  const Interval log_delta = composed->log_delta(Direction::remove, at);
  EXPECT_LE(log_delta.hi, Negligible::log_of_doubles);
  EXPECT_GE(log_delta.hi, one.lo);
}

// The probability of noise beyond a window, which is the bound there, is below all doubles too: Mills' ratio bounds it from below.
TEST(RareLosses, NoiseBeyondAFarWindowKeepsItsLogarithm) {
  const rare::Kinds kinds{{0.5, 1e-3, 1e-15, 1e-15, 10}};
  for (const double centre : {5.0, 30.0, 50.0, 80.0}) {
    const rare::SplitPlan plan(kinds, {{centre, 1e-4}}, 1, {});
    const auto log_tail = [](double x) { return -x * x / 2 - std::log(x * std::sqrt(2 * std::numbers::pi)); };  // times 1 - 1/x^2 to 1
    const double truth = std::log(10) + rare::log_add(std::log1p(-1e-3) + log_tail(centre), std::log(1e-3) + log_tail(centre - 0.5));
    EXPECT_LE(plan.log_probability(), truth + 1e-3) << centre;
    EXPECT_GE(plan.log_probability(), truth - 1.1 / ((centre - 0.5) * (centre - 0.5))) << centre;
  }
}

// Equal steps stated as two kinds.
TEST(RareLosses, KindsAreComposed) {
  const LossPointer step = sampled(2, 1e-5), other = sampled(1.9, 2e-5);
  const Interval together = log_delta({{step, 1000}}, 1.4), apart = log_delta({{step, 400}, {sampled(2, 1e-5), 600}}, 1.4);
  EXPECT_LE(together.lo, apart.hi);
  EXPECT_LE(apart.lo, together.hi);
  EXPECT_LT(apart.width(), 1e-9);
  const Interval mixed = log_delta({{step, 500}, {other, 500}}, 1.4);
  EXPECT_LT(mixed.width(), 1e-9);
  EXPECT_GT(mixed.lo, log_delta({{step, 500}}, 1.4).hi);
}

TEST(RareLosses, EpsilonIsTheInverse) {
  const QuestionScope question;
  const LossPointer composed = compose_by_rare_losses({{sampled(2, 1e-5), 10000}});
  const auto epsilon = composed->closed_epsilon(Direction::remove, Interval::exactly(1e-10));
  ASSERT_TRUE(epsilon);
  EXPECT_LT(epsilon->width(), 1e-9 * epsilon->hi);
  EXPECT_GT(epsilon->lo, 2.14);
  EXPECT_LT(epsilon->hi, 2.15);
  EXPECT_GT(composed->log_delta(Direction::remove, Interval::exactly(epsilon->lo * (1 - 1e-8))).lo, std::log(1e-10));
  EXPECT_LT(composed->log_delta(Direction::remove, Interval::exactly(epsilon->hi * (1 + 1e-8))).hi, std::log(1e-10));
  std::vector<Evaluation> found;
  composed->capabilities(Direction::remove).evaluable->evaluate(Direction::remove, 2, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().theorem, "rare-losses");
}

TEST(RareLosses, LeavesOtherQuestionsToOthers) {
  EXPECT_EQ(compose_by_rare_losses({{gaussian_loss(Interval::exactly(1)), 10}}), nullptr);
  EXPECT_EQ(compose_by_rare_losses({{std::make_shared<LaplaceLoss>(Interval::exactly(1)), 10}}), nullptr);
  // nothing is rare here
  EXPECT_EQ(log_delta({{sampled(2, 0.4), 2}}, 3).hi, 0);
  const LossPointer composed = compose_by_rare_losses({{sampled(2, 1e-5), 100}});
  EXPECT_EQ(composed->log_delta(Direction::add, Interval::exactly(1)).hi, 0);
  EXPECT_EQ(composed->delta(Direction::remove, Interval::exactly(-1)), (Interval{0, 1}));
  EXPECT_FALSE(composed->closed_epsilon(Direction::add, Interval::exactly(1e-5)));
}

}  // namespace
}  // namespace tradeoff::detail
