// SPDX-License-Identifier: Apache-2.0
#include "loss/budgeted_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "loss/question_scope.h"
#include "loss/work.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::IsTight;

/// A loss whose every evaluation counts `price` seconds of work, with artificially wide values.
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

TEST(BudgetedProfile, PassesEverythingOnWithinTheBudget) {
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

// [profile-bracket] For any number of questions: a few seconds of evaluations, and every answer is valid.
TEST(BudgetedProfile, IsValidAfterTheBudgetIsSpent) {
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
    EXPECT_LE(one.loss->seconds(), 2 * (4 + 2 * price));  // once for the proof and once for the search
  }
}

TEST(BudgetedProfile, LosesLittleIfAnEvaluationTakesAMillisecond) {
  const QuestionScope question;
  const Slow one = slow(gaussian_loss(Interval::exactly(1)), 1e-3);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 4000; ++i) {
      const double e = 1e-3 * i;
      EXPECT_THAT(one.patient->delta(Direction::remove, Interval::exactly(e)), IsTight(1e-3)) << e;
    }
}

TEST(BudgetedProfile, AnswersForAnIntervalAndAtInfinity) {
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
  // Far beyond every cell, and beyond the last loss.
  EXPECT_GE(one.patient->delta(Direction::remove, Interval::exactly(1e5)).hi, 0);
  const Slow bounded = slow(std::make_shared<LaplaceLoss>(Interval::exactly(1)), 0.1);
  for (int i = 0; i < 30; ++i) (void)bounded.patient->delta(Direction::remove, Interval::exactly(0.1 * i));
  EXPECT_EQ(bounded.patient->delta(Direction::remove, Interval::exactly(1.75)), Interval::exactly(0));
  EXPECT_EQ(bounded.patient->log_delta(Direction::remove, Interval::exactly(3000)), Interval::exactly(-infinity));
}

TEST(BudgetedProfile, SearchesTheStoredValuesAfterTheBudgetIsSpent) {
  const QuestionScope question;
  const LossPointer base = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  const LossPointer patient = budgeted(base, {0.25, 1});  // two evaluations of a formula are within this budget, a third is not
  EXPECT_EQ(patient->closed_beta(Direction::remove, Interval::exactly(0.1)), base->closed_beta(Direction::remove, Interval::exactly(0.1)));
  EXPECT_EQ(patient->closed_epsilon(Direction::remove, Interval::exactly(0.1)),
            base->closed_epsilon(Direction::remove, Interval::exactly(0.1)));
  (void)patient->delta(Direction::remove, Interval::exactly(0.25));
  EXPECT_FALSE(patient->closed_beta(Direction::remove, Interval::exactly(0.1)));
  EXPECT_FALSE(patient->closed_epsilon(Direction::remove, Interval::exactly(0.1)));
  EXPECT_EQ(patient->closed_mu().has_value(), base->closed_mu().has_value());
  EXPECT_TRUE(std::ranges::equal(patient->corners(Direction::remove), base->corners(Direction::remove)));
  EXPECT_EQ(patient->key(), base->key());
  const Provenance found = provenance_of([&] { (void)patient->delta(Direction::remove, Interval::exactly(0.5)); });
  EXPECT_EQ(found.steps.back().theorem, "profile-bracket");
  EXPECT_EQ(found.steps.front().theorem, "laplace-profile");
  EXPECT_EQ(patient->tail().zero_from, base->tail().zero_from);
}

TEST(BudgetedProfile, StopsEvaluatingIfTheValuesAreWide) {
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

/// A bound with a jump: no chord is valid for it.
class Bound final : public Loss {
 public:
  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return Interval::exactly(epsilon.lo < 1 ? 0.5 : 0); }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.is_pair = false}; }
};

// The next question starts with empty caches: neither earlier questions nor their work change it.
TEST(BudgetedProfile, AnswersEveryQuestionAsIfItWereTheFirst) {
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

/// The answers to many questions of one scope. `recorded` states for each whether its theorems are recorded.
template <class Recorded>
std::vector<Interval> answers_of(const Loss& loss, Recorded&& recorded) {
  const QuestionScope question;
  std::vector<Interval> found;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 60; ++i) {
      const Interval epsilon = Interval::exactly(std::fmod(0.37 * i, 2.5));
      const Direction direction = i % 3 == 0 ? Direction::add : Direction::remove;
      const auto ask = [&] {
        if (i % 5 == 0) found.push_back(Interval::exactly(loss.rough_delta(direction, epsilon.lo)));  // for a search; proves nothing
        found.push_back(i % 2 == 0 ? loss.delta(direction, epsilon) : loss.log_delta(direction, epsilon));
      };
      if (recorded(i))
        EXPECT_FALSE(provenance_of(ask).steps.empty());
      else
        ask();
    }
  return found;
}

// The bits are the same whether all answers, some of them or none are recorded, below the budget, beyond it and when it is spent.
TEST(BudgetedProfile, AnswersTheSameWithAndWithoutARecording) {
  for (const double price : {1e-6, 0.01, 0.04, 0.2, 1.0}) {
    const Slow one = slow(subsampled_laplace(), price);
    const std::vector<Interval> silent = answers_of(*one.patient, [](int) { return false; });
    EXPECT_EQ(answers_of(*one.patient, [](int) { return true; }), silent) << price;
    EXPECT_EQ(answers_of(*one.patient, [](int i) { return i % 2 == 0; }), silent) << price;
    EXPECT_EQ(answers_of(*one.patient, [](int i) { return i % 7 == 3; }), silent) << price;
    EXPECT_EQ(answers_of(*slow(subsampled_laplace(), price).patient, [](int i) { return i > 40; }), silent) << price << ", cold";
  }
}

// A search may spend its whole budget: the proof of its answer has a separate budget.
TEST(BudgetedProfile, KeepsASeparateBudgetForTheProof) {
  const QuestionScope question;
  const Slow one = slow(subsampled_laplace(), 0.2);
  for (int i = 0; i < 100; ++i) (void)one.patient->rough_delta(Direction::remove, 0.01 * i);
  EXPECT_LE(one.loss->seconds(), 4 + 2 * 0.2);
  EXPECT_EQ(one.patient->delta(Direction::remove, Interval::exactly(0.7)), one.loss->delta(Direction::remove, Interval::exactly(0.7)));
}

// An evaluation made while nothing is recorded stores its theorems: an answer that uses it later cites them.
TEST(BudgetedProfile, RecordsTheTheoremsOfValuesStoredWithoutARecording) {
  for (const bool of_logarithms : {false, true}) {
    const QuestionScope question;
    const Slow one = slow(subsampled_laplace(), 3);  // the second evaluation spends the budget
    for (const double epsilon : {0.5, 1.0}) {
      if (of_logarithms)
        (void)one.patient->log_delta(Direction::remove, Interval::exactly(epsilon));
      else
        (void)one.patient->delta(Direction::remove, Interval::exactly(epsilon));
    }
    const int before = one.loss->readings;
    const auto found = explained([&] { return one.patient->log_delta(Direction::remove, Interval::exactly(0.5)); });
    EXPECT_EQ(one.loss->readings, before);
    std::vector<std::string> theorems;
    for (const Step& step : found.steps) theorems.push_back(step.theorem);
    EXPECT_EQ(theorems, (std::vector<std::string>{"laplace-profile", "poisson-subsampling", "profile-bracket"})) << of_logarithms;
  }
}

// Work counted by other questions does not change even the rounding of the work of a question.
TEST(BudgetedProfile, CountsWorkExactly) {
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

TEST(BudgetedProfile, DoesNotChangeABound) {
  const LossPointer bound = std::make_shared<Bound>();
  EXPECT_EQ(budgeted(bound), bound);
}

}  // namespace
}  // namespace tradeoff::detail
