// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/lattice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "loss/atoms.h"
#include "loss/forwarding_loss.h"
#include "loss/gaussian_profile.h"
#include "loss/work.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"
#include "support/profile_only.h"

// [dominating-pair] [dominated-pair] [tilted-fft] [profile-inversion] The fallback of composition, which uses profiles only.
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;
using test::ProfileOnly;

LossPointer gaussian(double mu) { return gaussian_loss(Interval::exactly(mu)); }
LossPointer laplace(Interval epsilon0) { return std::make_shared<LaplaceLoss>(epsilon0); }
LossPointer response(double epsilon) { return randomized_response(Interval::exactly(epsilon), 2); }

/// P has `delta` of its mass where Q has none, and the rest has losses +-epsilon: the pair of (epsilon, delta)-DP.
class ApproximateLoss final : public Loss {
 public:
  ApproximateLoss(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {}
  [[nodiscard]] Interval delta(Direction, Interval e) const override {
    const Interval inner = response(epsilon_)->delta(Direction::remove, e);
    return clamp(Interval::exactly(delta_) + (1 - Interval::exactly(delta_)) * inner, 0, 1);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(delta_); }

 private:
  double epsilon_;
  double delta_;
};

TEST(Lattice, GaussiansComposeToAGaussian) {
  for (const auto& [mu, times] : std::vector<std::pair<double, std::uint64_t>>{{0.5, 4}, {1, 2}, {0.125, 64}}) {
    const LossPointer composed = compose_by_lattice({{gaussian(mu), times}}, {1e-5});
    const double total = mu * std::sqrt(static_cast<double>(times));
    for (const double epsilon : {-3.0, -0.5, 0.0, 0.7, 2.0, 6.0}) {
      const Interval found = composed->delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_THAT(found, Encloses(gaussian_delta(total, epsilon))) << mu << " x " << times << " at " << epsilon;
      EXPECT_THAT(found, IsTight(1e-5)) << mu << " x " << times << " at " << epsilon;
    }
  }
}

TEST(Lattice, KeepsRelativeAccuracyInTheTail) {
  const LossPointer composed = compose_by_lattice({{gaussian(0.5), 4}}, {1e-3});
  for (const double epsilon : {12.0, 20.0, 30.0}) {  // down to 1e-190
    const Interval found = composed->log_delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(found, Encloses(log_gaussian_delta(1.0, epsilon))) << epsilon;
    EXPECT_LE(found.width(), 1.1e-3) << epsilon;
  }
}

TEST(Lattice, MatchesTheGoldenLaplaceCompositions) {
  for (const auto& one : golden_group("f_dp.json", "lap_comp")) {
    const auto& inputs = one.at("inputs");
    const LossPointer step = laplace(golden_interval(inputs.at("mu")));
    const LossPointer composed = compose_by_lattice({{step, inputs.at("n").get<std::uint64_t>()}}, {1e-5});
    const Interval found = composed->delta(Direction::remove, golden_interval(inputs.at("t")));
    EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(found, IsTight(1e-5)) << one.at("id");
  }
}

TEST(Lattice, MatchesTheGoldenTwoStepTraining) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd2_delta")) {
    const auto& inputs = one.at("inputs");
    const LossPointer base = gaussian_loss(1.0 / golden_interval(inputs.at("sigma")));
    const LossPointer step = std::make_shared<PoissonLoss>(base, golden_interval(inputs.at("q")));
    const LossPointer composed = compose_by_lattice({{step, 2}}, {1e-6});
    const Direction direction = inputs.at("direction") == "remove" ? Direction::remove : Direction::add;
    const Interval found = composed->delta(direction, golden_interval(inputs.at("eps")));
    EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(found, IsTight(1e-6)) << one.at("id");
  }
}

TEST(Lattice, MatchesTheGoldenTrainingRuns) {
  LossPointer composed;
  std::string before;
  for (const auto& one : golden_group("f_dp.json", "dpsgd_delta")) {
    const auto& inputs = one.at("inputs");
    const auto times = inputs.at("T").get<std::uint64_t>();
    const std::string direction = inputs.at("direction"), rate = inputs.at("q");
    if (times > 1000 || rate.find('/') != std::string::npos) continue;
    const std::string plan = inputs.at("sigma").get<std::string>() + " " + rate + " " + std::to_string(times) + " " + direction;
    if (plan != before) {
      const LossPointer base = gaussian_loss(1.0 / golden_interval(inputs.at("sigma")));
      const Interval share = golden_interval(inputs.at("q"));
      const bool poisson = direction == "remove" || direction == "add";
      LossPointer step = std::make_shared<SampledLoss>(base, share);
      if (poisson) step = std::make_shared<PoissonLoss>(base, share);
      composed = compose_by_lattice({{step, times}}, {1e-4});
      before = plan;
    }
    const Interval found = composed->delta(direction == "add" ? Direction::add : Direction::remove, golden_interval(inputs.at("eps")));
    EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(found, IsTight(1e-4)) << one.at("id");
  }
}

TEST(Lattice, MatchesTheGoldenMixedResponses) {
  for (const auto& one : golden_group("f_dp.json", "rr_het")) {
    for (const bool hidden : {false, true}) {
      Parts parts;
      for (const auto& epsilon : one.at("inputs").at("eps")) {
        const LossPointer part = randomized_response(golden_interval(epsilon), 2);
        parts.push_back({hidden ? std::make_shared<ProfileOnly>(part) : part, 1});
      }
      const LossPointer composed = compose_by_lattice(parts, {1e-4});
      const Interval found = composed->delta(Direction::remove, golden_interval(one.at("inputs").at("t")));
      EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
      EXPECT_THAT(found, IsTight(hidden ? 0.1 : 1e-4)) << one.at("id") << (hidden ? ", profile only" : "");
    }
  }
}

TEST(Lattice, AtomsOnALatticeLoseNothing) {
  const LossPointer composed = compose_by_lattice({{response(0.5), 5}, {response(0.25), 3}}, {1e-9});
  // 18 outcomes; by hand in long double.
  for (const double epsilon : {0.0, 0.5, 1.0, 2.3}) {
    long double truth = 0;
    for (int i = 0; i <= 5; ++i) {
      for (int j = 0; j <= 3; ++j) {
        const long double loss = 0.5L * (5 - 2 * i) + 0.25L * (3 - 2 * j), above = loss - static_cast<long double>(epsilon);
        const long double ways = std::round(std::tgamma(6.0L) / std::tgamma(i + 1.0L) / std::tgamma(6.0L - i)) *
                                 std::round(std::tgamma(4.0L) / std::tgamma(j + 1.0L) / std::tgamma(4.0L - j));
        const long double scale = std::pow(1 + std::exp(0.5L), 5.0L) * std::pow(1 + std::exp(0.25L), 3.0L);
        const long double mass = ways * std::exp((5 - i) * 0.5L + (3 - j) * 0.25L) / scale;
        if (above > 0) truth += mass * -std::expm1(-above);
      }
    }
    const Interval found = composed->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(found, Encloses(Interval{static_cast<double>(truth) * (1 - 1e-14), static_cast<double>(truth) * (1 + 1e-14)})) << epsilon;
    EXPECT_THAT(found, IsTight(1e-9)) << epsilon;
  }
}

TEST(Lattice, CountsInfiniteLosses) {
  const LossPointer composed = compose_by_lattice({{std::make_shared<ApproximateLoss>(0.5, 1e-3), 3}}, {1e-4});
  const double infinite = -std::expm1(3 * std::log1p(-1e-3));
  const Interval around{infinite * (1 - 1e-14), infinite * (1 + 1e-14)};
  EXPECT_THAT(composed->infinite_mass(Direction::remove), Encloses(around));
  EXPECT_THAT(composed->delta(Direction::remove, Interval::exactly(2)), Encloses(around));
  EXPECT_THAT(composed->delta(Direction::remove, Interval::exactly(infinity)), Encloses(around));
  // Three times the larger loss, with probability (1 - 1e-3)^3 (e^0.5 / (1 + e^0.5))^3, above epsilon 1.
  const double share = std::pow((1 - 1e-3) / (1 + std::exp(-0.5)), 3), truth = infinite + share * -std::expm1(-0.5);
  const Interval found = composed->delta(Direction::remove, Interval::exactly(1));
  EXPECT_THAT(found, Encloses(Interval{truth * (1 - 1e-13), truth * (1 + 1e-13)}));
  EXPECT_THAT(found, IsTight(1e-3));
}

TEST(Lattice, DirectionsAreEachOthersMirror) {
  // delta_add(-e) = 1 - exp(-e) + exp(-e) delta_remove(e) for every pair of distributions, hence for the composed one.
  const LossPointer step = std::make_shared<PoissonLoss>(gaussian(1), Interval::exactly(0.25));
  const LossPointer composed = compose_by_lattice({{step, 3}, {laplace(Interval::exactly(0.5)), 2}}, {1e-5});
  for (const double epsilon : {-1.5, -0.25, 0.5, 1.5}) {
    const Interval remove = composed->delta(Direction::remove, Interval::exactly(epsilon));
    const Interval add = composed->delta(Direction::add, Interval::exactly(-epsilon));
    const Interval factor = exp(Interval::exactly(-epsilon));
    EXPECT_THAT(add, Encloses(1 - factor + factor * remove)) << epsilon;
    EXPECT_THAT(add, IsTight(1e-5)) << epsilon;
    EXPECT_THAT(remove, IsTight(1e-5)) << epsilon;
  }
  const Interval e = Interval::exactly(1.5);
  EXPECT_GT(composed->delta(Direction::remove, e).lo, composed->delta(Direction::add, e).hi);
}

TEST(Lattice, ProfilesAloneGiveTheSameAsTheLossesBehindThem) {
  const Parts open{{gaussian(0.5), 2}, {laplace(Interval::exactly(0.5)), 3}, {response(0.25), 2}};
  Parts hidden;
  for (const Part& part : open) hidden.push_back({std::make_shared<ProfileOnly>(part.loss), part.times});
  const LossPointer first = compose_by_lattice(open, {1e-4}), second = compose_by_lattice(hidden, {1e-3});
  for (const double epsilon : {-0.5, 0.0, 1.0, 2.5}) {
    const Interval e = Interval::exactly(epsilon);
    EXPECT_THAT(first->delta(Direction::remove, e), Encloses(second->delta(Direction::remove, e))) << epsilon;
  }
}

TEST(Lattice, EnclosesForAllEpsilonsOfAnInterval) {
  const LossPointer composed = compose_by_lattice({{gaussian(0.5), 4}}, {1e-4});
  const Interval wide = composed->delta(Direction::remove, {0.5, 1.5});
  EXPECT_LE(wide.lo, gaussian_delta(1.0, 1.5).lo);
  EXPECT_GE(wide.hi, gaussian_delta(1.0, 0.5).hi);
  EXPECT_EQ(composed->delta(Direction::remove, {-infinity, infinity}), (Interval{0, 1}));
}

TEST(Lattice, AnswersForHugeParameters) {
  for (const std::uint64_t times : {std::uint64_t{1'000'000}, std::uint64_t{1'000'000'000'000}, std::uint64_t{1} << 62}) {
    const LossPointer composed = compose_by_lattice({{gaussian(0x1p-12), times}}, {1e-3});
    const double total = 0x1p-12 * std::sqrt(static_cast<double>(times));
    for (const double epsilon : {0.0, 1.0}) {
      EXPECT_THAT(composed->delta(Direction::remove, Interval::exactly(epsilon)), Encloses(gaussian_delta(total, epsilon))) << times;
    }
  }
}

TEST(Lattice, AnswersManyThreadsAtOnce) {
  const LossPointer composed = compose_by_lattice({{gaussian(0.5), 4}}, {1e-4});
  std::vector<Interval> found(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] { found[i] = composed->delta(Direction::remove, Interval::exactly(0.25 * static_cast<double>(i))); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_THAT(found[i], Encloses(gaussian_delta(1.0, 0.25 * static_cast<double>(i))));
}

// One lattice answers for every epsilon near the requested one: no composition is repeated.
TEST(Lattice, FindsEpsilonWithBothEndsProved) {
  const LossPointer gaussians = compose_by_lattice({{gaussian(0.5), 4}}, {});
  for (const double delta : {0.1, 1e-5, 1e-40}) {
    const auto found = gaussians->closed_epsilon(Direction::remove, Interval::exactly(delta));
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(*found, Encloses(gaussian_epsilon(Interval::exactly(1), Interval::exactly(delta)))) << delta;
    EXPECT_THAT(*found, IsTight(1e-6)) << delta;
  }
  EXPECT_EQ(*gaussians->closed_epsilon(Direction::remove, Interval::exactly(0.9)), Interval::exactly(0));
  for (const auto& one : golden_group("f_dp.json", "dpsgd_eps")) {
    const auto& inputs = one.at("inputs");
    if (inputs.at("T").get<std::uint64_t>() > 1000 || inputs.at("direction") == "remove" || inputs.at("direction") == "add") continue;
    const auto sampled =
        std::make_shared<SampledLoss>(gaussian_loss(1.0 / golden_interval(inputs.at("sigma"))), golden_interval(inputs.at("q")));
    const auto found = compose_by_lattice({{sampled, inputs.at("T").get<std::uint64_t>()}}, {1e-4})
                           ->closed_epsilon(Direction::remove, golden_interval(inputs.at("delta")));
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(*found, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(*found, IsTight(1e-4)) << one.at("id");
  }
}

// So small a delta is within rounding of the largest loss, where there is no saddle point.
TEST(Lattice, FindsEpsilonNextToTheLargestLoss) {
  const auto sampled = std::make_shared<PoissonLoss>(laplace(Interval::exactly(0.5)), Interval::exactly(0.25));
  const double largest = 3 * std::log1p(0.25 * std::expm1(0.5));
  const auto found = compose_by_lattice({{sampled, 3}}, {})->closed_epsilon(Direction::remove, Interval::exactly(1e-300));
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(found->lo, largest);
  EXPECT_GE(found->hi, largest * (1 - 1e-12));
  EXPECT_GE(found->lo, 0.9 * largest);
}

TEST(Lattice, KnowsWhereInfiniteLossesForbidAnEpsilon) {
  const LossPointer composed = compose_by_lattice({{std::make_shared<ApproximateLoss>(0.5, 1e-3), 2}}, {});
  EXPECT_EQ(*composed->closed_epsilon(Direction::remove, Interval::exactly(1e-3)), Interval::exactly(infinity));
  EXPECT_FALSE(composed->closed_epsilon(Direction::remove, composed->infinite_mass(Direction::remove)).has_value());
}

// Work is counted, not timed, and every question starts with the same lattice.
TEST(Lattice, AnswersDependOnTheQuestionAlone) {
  const auto sampled = std::make_shared<PoissonLoss>(laplace(Interval::exactly(1 / 0.3905)), Interval::exactly(0.4161));
  const auto fresh = [&] { return compose_by_lattice({{sampled, 14}}, {1e-5}); };
  const Interval first = fresh()->delta(Direction::remove, Interval::exactly(2));
  EXPECT_EQ(fresh()->delta(Direction::remove, Interval::exactly(2)), first);
  EXPECT_THAT(first, IsTight(1e-5));
  const LossPointer used = fresh();
  const auto epsilon = used->closed_epsilon(Direction::remove, Interval::exactly(1e-5));
  ASSERT_TRUE(epsilon.has_value());
  EXPECT_THAT(*epsilon, IsTight(0.5e-5));  // half of the tolerance
  EXPECT_THAT(used->delta(Direction::remove, Interval::exactly(2)), IsTight(2e-5));
}

/// A loss whose evaluations are counted.
class CountedLoss final : public ForwardingLoss {
 public:
  CountedLoss(LossPointer loss, std::atomic<int>& count) : loss_(std::move(loss)), count_(&count) {}
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    ++*count_;
    return ForwardingLoss::delta(direction, epsilon);
  }

 private:
  [[nodiscard]] const Loss& base() const override { return *loss_; }
  LossPointer loss_;
  std::atomic<int>* count_;
};

// Discretisations are kept for later questions. Answers, counted work and recorded theorems are those of a first question.
TEST(Lattice, LaterQuestionsHaveTheAnswersOfFirstOnes) {
  std::atomic<int> evaluations = 0;
  const auto sampled = std::make_shared<PoissonLoss>(laplace(Interval::exactly(1 / 0.3905)), Interval::exactly(0.4161));
  const auto counted = std::make_shared<CountedLoss>(sampled, evaluations);
  const auto fresh = [&] { return compose_by_lattice({{counted, 6}, {discrete_gaussian(Interval::exactly(8.5), 1), 2}}, {1e-5}); };
  const LossPointer used = fresh();
  const auto asked = [&](const LossPointer& loss, double epsilon) {
    const std::uint64_t begin = Work::now();
    auto found = explained([&] { return loss->delta(Direction::remove, Interval::exactly(epsilon)); });
    return std::make_pair(std::move(found), Work::since(begin));
  };
  for (const double epsilon : {0.5, 1.0, 0.5, 2.0, 1.0}) {
    const auto [first, first_work] = asked(fresh(), epsilon);
    const auto [later, later_work] = asked(used, epsilon);
    EXPECT_EQ(later.value, first.value) << epsilon;
    EXPECT_EQ(later_work, first_work) << epsilon;
    ASSERT_EQ(later.steps.size(), first.steps.size()) << epsilon;
    for (std::size_t i = 0; i < first.steps.size(); ++i) EXPECT_EQ(later.steps[i].detail, first.steps[i].detail) << epsilon;
  }
  evaluations = 0;
  (void)used->delta(Direction::remove, Interval::exactly(0.5));
  const int again = evaluations;
  evaluations = 0;
  (void)fresh()->delta(Direction::remove, Interval::exactly(0.5));
  EXPECT_LT(again, evaluations / 50);
}

// The true value: the discrete parts convolved atom by atom, and the rest of the plan by its own profile.
TEST(Lattice, AtomsWithADensityStayOnTheLattice) {
  const LossPointer noise = discrete_gaussian(Interval::exactly(2), 1);
  const LossPointer composed = compose_by_lattice({{noise, 3}, {gaussian(0.5), 4}}, {});
  const std::vector<Atom>& atoms = noise->atoms(Direction::remove)->finite;
  for (const double epsilon : {0.0, 1.0, 4.0}) {
    Interval truth = Interval::exactly(0);
    for (const Atom& a : atoms)
      for (const Atom& b : atoms)
        for (const Atom& c : atoms)
          if (const Interval mass = a.mass * b.mass * c.mass; mass.hi > 1e-40)
            truth = truth + mass * gaussian_delta(Interval::exactly(1), epsilon - a.loss - b.loss - c.loss);
    truth.hi += 1e-30;  // the omitted part
    const Interval found = composed->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(found, Encloses(truth)) << epsilon;
    EXPECT_THAT(found, IsTight(1e-6)) << epsilon;
  }
}

// An approximation is near the true value; if there is no coarse lattice, it is exact.
TEST(Lattice, ApproximationsAreClose) {
  const LossPointer composed = compose_by_lattice({{std::make_shared<ApproximateLoss>(0.5, 0.01), 4}}, {1e-4});
  const double truth = composed->delta(Direction::remove, Interval::exactly(1)).hi;
  EXPECT_NEAR(composed->rough_delta(Direction::remove, 1), truth, 0.1 * truth);
  EXPECT_NEAR(composed->rough_delta(Direction::remove, infinity), 1 - std::pow(0.99, 4), 1e-9);
}

TEST(Lattice, DescribesItsComputation) {
  const LossPointer composed = compose_by_lattice({{gaussian(0.5), 4}}, {1e-4});
  const auto [value, method, steps] = explained([&] { return composed->delta(Direction::remove, Interval::exactly(1)); });
  EXPECT_EQ(method, Method::lattice);
  ASSERT_GE(steps.size(), 3u);
  EXPECT_EQ(steps.back().theorem, "tilted-fft");
  EXPECT_NE(steps.back().detail.find("lattice"), std::string::npos);
}

}  // namespace
}  // namespace tradeoff::detail
