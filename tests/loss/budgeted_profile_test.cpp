// SPDX-License-Identifier: Apache-2.0
#include "loss/budgeted_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "loss/question_scope.h"
#include "loss/recording.h"
#include "loss/work.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

namespace tradeoff {
namespace {

using test::IsTight;

/// A loss whose every reading counts `price` seconds of work; widths as if it were not known better.
class SlowLoss final : public Loss {
 public:
  SlowLoss(LossPointer base, double price, double blur = 0) : base_(std::move(base)), price_(price), blur_(blur) {}
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    ++readings;
    Work::count(1e6 * price_);
    const Interval exact = base_->log_delta(direction, epsilon);
    return {exact.lo - blur_, exact.hi + blur_};
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return base_->infinite_mass(direction); }
  [[nodiscard]] double seconds() const { return price_ * readings; }
  mutable int readings = 0;

 private:
  LossPointer base_;
  double price_;
  double blur_;
};

struct Slow {
  std::shared_ptr<const SlowLoss> loss;
  LossPointer patient;
};

Slow slow(LossPointer base, double price, double blur = 0) {
  auto loss = std::make_shared<const SlowLoss>(std::move(base), price, blur);
  return {loss, budgeted(loss)};
}

LossPointer subsampled_laplace() {
  return std::make_shared<PoissonLoss>(std::make_shared<LaplaceLoss>(Interval::exactly(1.5)), Interval::exactly(0.25));
}

TEST(Bracketed, PassesEverythingOnAsLongAsItIsQuick) {
  const QuestionScope question;
  const Slow quick = slow(gaussian_loss(Interval::exactly(1)), 1e-6);
  for (int i = -300; i < 300; ++i) {
    const double e = 0.01 * i;
    const Interval exact = gaussian_loss(Interval::exactly(1))->delta(Direction::remove, Interval::exactly(e));
    const Interval found = quick.patient->delta(Direction::remove, Interval::exactly(e));
    EXPECT_TRUE(found.lo <= exact.hi && exact.lo <= found.hi) << e;
    EXPECT_THAT(found, IsTight(1e-13)) << e;
  }
  EXPECT_EQ(quick.loss->readings, 600);
}

// [profile-bracket] However often it is asked: a few seconds' worth of readings, and every answer holds.
TEST(Bracketed, ReadsForALimitedAmountOfWorkAndEnclosesAllTheSame) {
  const QuestionScope question;
  std::mt19937_64 bits(7);
  for (const auto& [base, price] : {std::pair{gaussian_loss(Interval::exactly(1)), 1e-3}, std::pair{subsampled_laplace(), 1e-3},
                                    std::pair{subsampled_laplace(), 0.05}, std::pair{gaussian_loss(Interval::exactly(0.1)), 0.6}}) {
    const Slow one = slow(base, price);
    for (int i = 0; i < 6000; ++i) {
      const double e = std::ldexp(static_cast<double>(bits() >> 11), -50) - 2;
      for (const Direction direction : {Direction::remove, Direction::add}) {
        const Interval exact = base->delta(direction, Interval::exactly(e));
        const Interval found = one.patient->delta(direction, Interval::exactly(e));
        ASSERT_LE(found.lo, exact.hi) << e;
        ASSERT_GE(found.hi, exact.lo) << e;
      }
      if (e < 0) continue;
      const Interval exact = base->log_delta(Direction::remove, Interval::exactly(e));
      const Interval found = one.patient->log_delta(Direction::remove, Interval::exactly(e));
      ASSERT_LE(found.lo, exact.hi) << e;
      ASSERT_GE(found.hi, exact.lo) << e;
      const double rough = one.patient->rough_delta(Direction::remove, e);
      ASSERT_TRUE(rough >= 0 && rough <= 1) << e;
    }
    EXPECT_LE(one.loss->seconds(), 4 + 2 * price);
  }
}

TEST(Bracketed, LosesLittleForAPriceOfAMillisecond) {
  const QuestionScope question;
  const Slow one = slow(gaussian_loss(Interval::exactly(1)), 1e-3);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 4000; ++i) {
      const double e = 1e-3 * i;
      EXPECT_THAT(one.patient->delta(Direction::remove, Interval::exactly(e)), IsTight(1e-3)) << e;
    }
}

TEST(Bracketed, AnswersForAnIntervalAndAtInfinity) {
  const QuestionScope question;
  const Slow one = slow(gaussian_loss(Interval::exactly(1)), 0.1);
  for (int i = 0; i < 100; ++i) (void)one.patient->delta(Direction::remove, Interval::exactly(0.1 * i));
  const Interval wide = one.patient->delta(Direction::remove, {-0.5, 1.5});
  EXPECT_LE(wide.lo, gaussian_loss(Interval::exactly(1))->delta(Direction::remove, Interval::exactly(1.5)).lo);
  EXPECT_GE(wide.hi, gaussian_loss(Interval::exactly(1))->delta(Direction::remove, Interval::exactly(-0.5)).hi);
  const Interval logs = one.patient->log_delta(Direction::remove, {0.5, 1.5});
  EXPECT_LE(logs.lo, gaussian_loss(Interval::exactly(1))->log_delta(Direction::remove, Interval::exactly(1.5)).lo);
  EXPECT_EQ(one.patient->delta(Direction::remove, Interval::exactly(infinity)), Interval::exactly(0));
  EXPECT_EQ(one.patient->delta(Direction::remove, Interval::exactly(-infinity)), Interval::exactly(1));
  EXPECT_EQ(one.patient->log_delta(Direction::remove, Interval::exactly(infinity)), Interval::exactly(-infinity));
  // So far out that no cell reaches it, and where the law has ended.
  EXPECT_GE(one.patient->delta(Direction::remove, Interval::exactly(1e5)).hi, 0);
  const Slow bounded = slow(std::make_shared<LaplaceLoss>(Interval::exactly(1)), 0.1);
  for (int i = 0; i < 30; ++i) (void)bounded.patient->delta(Direction::remove, Interval::exactly(0.1 * i));
  EXPECT_EQ(bounded.patient->delta(Direction::remove, Interval::exactly(1.75)), Interval::exactly(0));
  EXPECT_EQ(bounded.patient->log_delta(Direction::remove, Interval::exactly(3000)), Interval::exactly(-infinity));
}

TEST(Bracketed, LeavesSearchesToTheReadingsWhenTheBudgetIsSpent) {
  const QuestionScope question;
  const Recording recording;  // readings made without one are kept apart
  const LossPointer base = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  const LossPointer patient = budgeted(base, {0.25, 1});  // two readings of a formula are within this, and a third is not
  EXPECT_EQ(patient->closed_beta(Direction::remove, Interval::exactly(0.1)), base->closed_beta(Direction::remove, Interval::exactly(0.1)));
  EXPECT_EQ(patient->closed_epsilon(Direction::remove, Interval::exactly(0.1)),
            base->closed_epsilon(Direction::remove, Interval::exactly(0.1)));
  (void)patient->rough_delta(Direction::remove, 0.5);
  EXPECT_FALSE(patient->closed_beta(Direction::remove, Interval::exactly(0.1)));
  EXPECT_FALSE(patient->closed_epsilon(Direction::remove, Interval::exactly(0.1)));
  EXPECT_EQ(patient->closed_mu().has_value(), base->closed_mu().has_value());
  EXPECT_EQ(patient->corners(Direction::remove), base->corners(Direction::remove));
  EXPECT_EQ(patient->key(), base->key());
  const Provenance found = provenance_of([&] { (void)patient->delta(Direction::remove, Interval::exactly(0.5)); });
  EXPECT_EQ(found.steps.back().theorem, "profile-bracket");
  EXPECT_EQ(found.steps.front().theorem, "laplace-profile");
  EXPECT_EQ(patient->tail().zero_from, base->tail().zero_from);
}

TEST(Bracketed, DoesNotReadOnWhereReadingsAreWide) {
  const QuestionScope question;
  const Slow one = slow(gaussian_loss(Interval::exactly(1)), 0.1, 0.3);
  for (int i = 0; i < 6; ++i) (void)one.patient->delta(Direction::remove, Interval::exactly(i));
  const int before = one.loss->readings;
  const Interval found = one.patient->log_delta(Direction::remove, Interval::exactly(2.5));
  const Interval exact = gaussian_loss(Interval::exactly(1))->log_delta(Direction::remove, Interval::exactly(2.5));
  EXPECT_LE(found.lo, exact.lo);
  EXPECT_GE(found.hi, exact.hi);
  EXPECT_LE(one.loss->readings - before, 2);
}

/// A bound that jumps: no chord holds it.
class Bound final : public Loss {
 public:
  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return Interval::exactly(epsilon.lo < 1 ? 0.5 : 0); }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] bool is_pair() const override { return false; }
};

// The next question begins afresh: what was asked before changes nothing, and neither does what another question has spent.
TEST(Bracketed, AnswersEveryQuestionAsIfItWereTheFirst) {
  const Slow one = slow(subsampled_laplace(), 0.1);
  const auto ask = [&](double epsilon) {
    const QuestionScope question;
    Interval found{};
    for (int i = 0; i < 20; ++i) found = one.patient->delta(Direction::remove, Interval::exactly(epsilon + 0.01 * i));
    return found;
  };
  const Interval first = ask(0.3);
  for (const double other : {0.1, 0.7, 1.2}) (void)ask(other);
  EXPECT_EQ(ask(0.3), first);
}

// What other questions have counted before does not even change the rounding of what a question has spent.
TEST(Bracketed, CountsWorkExactly) {
  const auto work_of = [] {
    const std::uint64_t begin = Work::now();
    for (int i = 0; i < 1000; ++i) Work::count(0.1 * i);
    return Work::since(begin);
  };
  const double first = work_of();
  EXPECT_NEAR(first, 49950, 1e-2);
  for (const double before : {0.3, 7.5e-3 * 12345, 1e9 / 3, 1e12 / 7, infinity}) {
    Work::count(before);
    EXPECT_EQ(work_of(), first) << before;
  }
}

TEST(Bracketed, LeavesABoundAlone) {
  const LossPointer bound = std::make_shared<Bound>();
  EXPECT_EQ(budgeted(bound), bound);
}

}  // namespace
}  // namespace tradeoff
