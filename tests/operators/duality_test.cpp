// SPDX-License-Identifier: Apache-2.0
// [profile-duality], [profile-inversion], [two-directions], [largest-loss]
#include "operators/duality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "loss/gaussian_profile.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"
#include "support/profile_only.h"
#include "tradeoff/analyze.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;
using test::ProfileOnly;

constexpr test::Kept closed_forms_hidden{.log_delta = true};  // the generic inversions have to find them again

TEST(InvertProfile, FindsTheClosedFormsAgain) {
  const std::vector<LossPointer> losses{gaussian_loss(Interval::exactly(0.01)), gaussian_loss(Interval::exactly(1)),
                                        gaussian_loss(Interval::exactly(9)), std::make_shared<LaplaceLoss>(Interval::exactly(2))};
  for (const LossPointer& loss : losses) {
    const ProfileOnly plain(loss, closed_forms_hidden);
    for (const double delta : {0.4, 1e-3, 1e-9, 1e-100, 1e-305}) {
      const Interval expected = *loss->closed_epsilon(Direction::remove, Interval::exactly(delta));
      const Interval found = invert_profile(Profile(plain, Direction::worst), Interval::exactly(delta));
      EXPECT_THAT(found, Encloses(expected)) << delta;
      if (expected.lo > 0) {
        EXPECT_THAT(found, IsTight(1e-11)) << delta;
      }
    }
  }
}

/// A Gaussian of mu = 1 whose profile is known to a tenth only.
class RoughLoss final : public Loss {
 public:
  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    return clamp(gaussian_delta(Interval::exactly(1), epsilon) * Interval{0.9, 1.1}, 0, 1);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
};

// Far beyond 2^20 the search goes on where values are cheap, and the tail bounds what it does not find.
TEST(InvertProfile, FindsHugeEpsilons) {
  for (const double epsilon : {1e7, 1e100, 1e307}) {
    const Curve curve = analyze(parse("laplace(scale=" + exact_number(1 / epsilon).text + ") | poisson(rate=0.1)"));
    const Interval found = curve.epsilon_at(1e-5);
    EXPECT_LE(found.lo, epsilon * (1 + 1e-12));
    EXPECT_LE(found.hi, epsilon * (1 + 1e-12));
    EXPECT_GE(found.hi, epsilon * (1 - 1e-5));
  }
}

TEST(InvertProfile, DecidesNothingWhereEnclosuresOverlap) {
  const RoughLoss loss;
  const Interval delta = Interval::exactly(1e-3), found = invert_profile(Profile(loss, Direction::remove), delta);
  EXPECT_LE(found.lo, gaussian_epsilon(Interval::exactly(1), delta / 0.9).hi);
  EXPECT_GE(found.hi, gaussian_epsilon(Interval::exactly(1), delta / 1.1).lo);
}

TEST(InvertProfile, ANegligibleDeltaBelowTheInfiniteMassNeedsInfiniteEpsilon) {
  const LossPointer loss = pair_loss({Interval::exactly(0.25), Interval::exactly(0.75)}, {Interval::exactly(0), Interval::exactly(1)});
  const ProfileOnly plain(loss, closed_forms_hidden);
  EXPECT_EQ(invert_profile(Profile(plain, Direction::remove), Interval::exactly(0.1)), Interval::exactly(infinity));
  EXPECT_EQ(invert_profile(Profile(plain, Direction::remove), Interval::exactly(0.3)), Interval::exactly(0));
}

TEST(DualBeta, FindsTheClosedFormsAgain) {
  const std::vector<LossPointer> losses{gaussian_loss(Interval::exactly(0.3)), gaussian_loss(Interval::exactly(2)),
                                        std::make_shared<LaplaceLoss>(Interval::exactly(1))};
  for (const LossPointer& loss : losses) {
    const ProfileOnly plain(loss, closed_forms_hidden);
    for (const double alpha : {0.0, 1e-9, 1e-3, 0.05, 0.3, 0.5, 0.9, 0.999, 1.0}) {
      const Interval expected = *loss->closed_beta(Direction::remove, Interval::exactly(alpha));
      const Interval found = dual_beta(Profile(plain, Direction::worst), Interval::exactly(alpha));
      EXPECT_THAT(found, Encloses(expected)) << alpha;
      EXPECT_THAT(found, IsTight(1e-9)) << alpha;
    }
  }
}

/// T(Q, P) of a finite pair by sorting the outcomes, in plain doubles.
double neyman_pearson(std::vector<std::pair<double, double>> outcomes, double alpha) {  // (q, p)
  std::sort(outcomes.begin(), outcomes.end(), [](auto a, auto b) { return a.second * b.first > b.second * a.first; });
  double beta = 1;
  for (const auto& [q, p] : outcomes) {
    const double taken = q > 0 ? std::min(1.0, alpha / q) : 1;
    beta -= taken * p;
    alpha -= taken * q;
    if (taken < 1) break;
  }
  return beta;
}

TEST(DualBeta, AsymmetricPairsHaveTwoCurvesThatAreInverse) {
  const std::vector<double> p{0.5, 0.25, 0.125, 0.125, 0};
  const std::vector<double> q{0.0625, 0.25, 0.1875, 0.25, 0.25};
  std::vector<Interval> p_exact;
  std::vector<Interval> q_exact;
  std::vector<std::pair<double, double>> forward;
  std::vector<std::pair<double, double>> backward;
  for (std::size_t i = 0; i < p.size(); ++i) {
    p_exact.push_back(Interval::exactly(p[i]));
    q_exact.push_back(Interval::exactly(q[i]));
    forward.emplace_back(q[i], p[i]);
    backward.emplace_back(p[i], q[i]);
  }
  const ProfileOnly loss(pair_loss(p_exact, q_exact), closed_forms_hidden);
  for (const double alpha : {0.0, 0.03, 0.0625, 0.2, 0.4, 0.6, 0.8, 0.95}) {
    const Interval remove = dual_beta(Profile(loss, Direction::remove), Interval::exactly(alpha));
    EXPECT_NEAR(remove.lo, neyman_pearson(forward, alpha), 1e-9) << alpha;
    EXPECT_NEAR(remove.hi, neyman_pearson(forward, alpha), 1e-9) << alpha;
    const Interval add = dual_beta(Profile(loss, Direction::add), Interval::exactly(alpha));
    EXPECT_NEAR(add.lo, neyman_pearson(backward, alpha), 1e-9) << alpha;
    // The symmetric curve is below both.
    const Interval worst = dual_beta(Profile(loss, Direction::worst), Interval::exactly(alpha));
    EXPECT_LE(worst.lo, std::min(remove.hi, add.hi)) << alpha;
  }
}

TEST(DualBeta, SmallBetaKeepsItsRelativeAccuracy) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const ProfileOnly plain(gaussian, closed_forms_hidden);
  const double alpha = 1 - 0x1p-40;
  const Interval found = dual_beta(Profile(plain, Direction::worst), Interval::exactly(alpha));
  EXPECT_THAT(found, Encloses(*gaussian->closed_beta(Direction::remove, Interval::exactly(alpha))));
  EXPECT_THAT(found, IsTight(1e-6));
}

// Values of mpmath with 40 digits.
TEST(DualPower, KeepsItsRelativeAccuracyAtSmallLevels) {
  const auto power = [](const char* plan, double level) { return analyze(parse(plan)).tpr_at(Interval::exactly(level)); };
  struct Case {
    const char* plan;
    double level, power;
  };
  for (const Case& one :
       {Case{"gaussian(sigma=3)", 1e-9, 7.373824717825380234e-9}, Case{"gaussian(sigma=3)", 1e-20, 2.149253114393046503e-19},
        Case{"laplace(scale=3)", 1e-20, 1.395612425086089528e-20}, Case{"dp(epsilon=1, delta=1e-6)", 1e-9, 1.002718281828459045e-6},
        Case{"dp(epsilon=1, delta=1e-6)", 0, 1e-6}, Case{"gaussian(sigma=3) | poisson(rate=0)", 1e-9, 1e-9}}) {
    const Interval found = power(one.plan, one.level);
    EXPECT_THAT(found, IsTight(1e-11)) << one.plan;
    EXPECT_LE(found.lo, one.power * (1 + 1e-14)) << one.plan;
    EXPECT_GE(found.hi, one.power * (1 - 1e-14)) << one.plan;
  }
}

// With the profile alone and with tests, at all levels, both directions: 1 - beta.
TEST(DualPower, IsOneMinusBeta) {
  const std::vector<LossPointer> losses{gaussian_loss(Interval::exactly(1)), std::make_shared<LaplaceLoss>(Interval::exactly(2)),
                                        pair_loss({Interval::exactly(0.7), Interval::exactly(0.2), Interval::exactly(0.1)},
                                                  {Interval::exactly(0.1), Interval::exactly(0.4), Interval::exactly(0.5)})};
  for (const LossPointer& loss : losses) {
    const ProfileOnly plain(loss, closed_forms_hidden);
    for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
      for (const double alpha : {1e-12, 1e-4, 0.1, 0.45, 0.8}) {
        const Interval beta = dual_beta(Profile(plain, direction), Interval::exactly(alpha));
        const Interval power = dual_power(Profile(plain, direction), Interval::exactly(alpha));
        EXPECT_LE(power.lo, (1.0 - beta).hi) << alpha;
        EXPECT_GE(power.hi, (1.0 - beta).lo) << alpha;
        EXPECT_THAT(power, IsTight(1e-9)) << alpha;
      }
    }
  }
}

/// A loss with a known epsilon for each direction, and a bound of the losses of the second one.
class KnownEpsilons final : public Loss, public ClosedForms {
 public:
  KnownEpsilons(double remove, double add, double largest_add) : remove_(remove), add_(add), largest_add_(largest_add) {}
  [[nodiscard]] Interval delta(Direction, Interval) const override { return {0, 1}; }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override {
    Tail tail;
    tail.largest = {{0, infinity}, {0, largest_add_}};
    return tail;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this}; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval) const override {
    asked_add = asked_add || direction == Direction::add;
    return Interval::exactly(direction == Direction::add ? add_ : remove_);
  }
  mutable bool asked_add = false;

 private:
  double remove_, add_, largest_add_;
};

// [two-directions] [largest-loss] The other direction is searched unless its largest loss is known to be no larger.
TEST(Duality, SearchesTheOtherDirectionUnlessItsLossesAreSmaller) {
  for (const auto& [remove, add, largest, searched] : {std::tuple{1.0, 1.5, 2.0, true},
                                                       {1.0, 0.5, 2.0, true},
                                                       {1.0, 0.5, 1.0, false},
                                                       {1.0, 0.5, infinity, true},
                                                       {1.0, 1.25, 1.25, true}}) {
    const KnownEpsilons loss(remove, add, largest);
    EXPECT_EQ(Profile(loss, Direction::worst).closed_epsilon(Interval::exactly(1e-5)), Interval::exactly(std::max(remove, add))) << add;
    EXPECT_EQ(loss.asked_add, searched) << add << " " << largest;
  }
}

}  // namespace
}  // namespace tradeoff::detail
