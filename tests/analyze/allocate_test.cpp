// SPDX-License-Identifier: Apache-2.0
// [random-allocation] [allocation-replace-one] [allocation-blocks] [shuffled-batches] [allocation-epochs] [truncated-contour]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"
#include "tradeoff/provenance.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using testing::HasSubstr;

constexpr auto add_remove = Neighbours::add_remove, zero_out = Neighbours::zero_out, replace_one = Neighbours::replace_one;
constexpr Tolerance loose{1e-3};

std::string refused(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)analyze(parse(plan), neighbours);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

bool overlap(Interval a, Interval b) { return std::max(a.lo, b.lo) <= std::min(a.hi, b.hi); }

TEST(Allocate, HoldsGoldenEpochs) {
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_epochs_delta")) {
    const auto& inputs = one.at("inputs");
    const std::string plan = "gaussian(" + inputs.at("sigma").get<std::string>() + ") | allocate(" +
                             std::to_string(inputs.at("steps").get<int>()) + ") | repeat(" +
                             std::to_string(inputs.at("epochs").get<int>()) + ")";
    const Direction direction = inputs.at("direction") == "add" ? Direction::add : Direction::remove;
    const Interval delta = analyze(parse(plan), zero_out).delta_at(golden_interval(inputs.at("eps")).lo, direction);
    const double value = std::stod(one.at("value").get<std::string>());
    EXPECT_LE(delta.lo, value * (1 + 1e-12)) << plan;
    EXPECT_GE(delta.hi, value * (1 - 1e-12)) << plan;
    EXPECT_LE(delta.width(), 1e-7 * delta.hi) << plan;
  }
}

// Against an integral over both steps by the midpoint rule, which shares nothing with the cells.
TEST(Allocate, TwoReplacedStepsAreAnIntegral) {
  for (const auto& [sigma, epsilon] : {std::pair{0.4, 4.0}, {0.7, 2.5}, {2.0, 0.3}}) {
    const double s = 1 / sigma, h = 0.02, kappa = std::exp(epsilon);
    double sum = 0;
    const auto value = [&](double z) { return std::exp(s * z - s * s / 2) - kappa * std::exp(-s * z - s * s / 2); };
    for (double x = -8.5; x < s + 8.5; x += h)
      for (double y = -8.5; y < s + 8.5; y += h)
        if (const double both = value(x) + value(y); both > 0) sum += both * std::exp(-(x * x + y * y) / 2) * h * h;
    const double truth = sum / 2 / (2 * std::numbers::pi);
    const Interval found = analyze(parse("gaussian(" + std::to_string(sigma) + ", clip=1) | allocate(2)"), replace_one).delta_at(epsilon);
    EXPECT_NEAR(found.lo, truth, 1e-3 * truth);
    EXPECT_LE(found.width(), 1e-6 * found.hi);
  }
}

TEST(Allocate, OneStepIsTheGaussian) {
  const Interval allocated = analyze(parse("gaussian(2) | allocate(1) | repeat(3)"), add_remove).delta_at(0.5);
  const Interval plain = analyze(parse("gaussian(2) | repeat(3)"), add_remove).delta_at(0.5);
  EXPECT_TRUE(overlap(allocated, plain));
  EXPECT_LE(allocated.width(), 1e-9);
}

// A draw that is reused is one epoch with less noise; fresh draws reveal less.
TEST(Allocate, ReusedDrawsRevealMore) {
  const Interval reused = analyze(parse("gaussian(2) | allocate(steps=20, passes=4)"), add_remove).delta_at(0.5);
  EXPECT_TRUE(overlap(reused, analyze(parse("gaussian(1) | allocate(20)"), add_remove).delta_at(0.5)));
  EXPECT_LT(analyze(parse("gaussian(2) | allocate(20) | repeat(4)"), add_remove, loose).delta_at(0.5).hi, reused.lo);
}

TEST(Allocate, EpochsLieBelowOneGaussianPerEpoch) {
  const Interval epochs = analyze(parse("gaussian(1) | allocate(5) | repeat(3)"), add_remove, loose).delta_at(1.0);
  EXPECT_LT(epochs.hi, analyze(parse("gaussian(1) | repeat(3)"), add_remove).delta_at(1.0).lo);
  EXPECT_GT(epochs.lo, analyze(parse("gaussian(1) | allocate(5)"), add_remove).delta_at(1.0).hi);
}

TEST(Allocate, HoldsGoldenReplacedRecords) {
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_replace_delta")) {
    const auto& inputs = one.at("inputs");
    const std::string plan = "gaussian(" + inputs.at("sigma").get<std::string>() + ", clip=1) | allocate(2)";
    const Interval delta = analyze(parse(plan), replace_one).delta_at(golden_interval(inputs.at("eps")).lo);
    const double value = std::stod(one.at("value").get<std::string>());
    EXPECT_LE(delta.lo, value * (1 + 1e-12)) << plan;
    EXPECT_GE(delta.hi, value * (1 - 1e-12)) << plan;
    EXPECT_LE(delta.width(), 1e-6 * delta.hi) << plan;
  }
}

// Only the distance of two contributions is known: the drawn step counts as shown.
TEST(Allocate, WithoutAClipNormIsOneGaussian) {
  const Interval delta = analyze(parse("gaussian(1) | allocate(2)"), replace_one).delta_at(1.0);
  EXPECT_TRUE(overlap(delta, analyze(parse("gaussian(1)"), replace_one).delta_at(1.0)));
  EXPECT_GT(delta.lo, 0.126);
}

// Two out of twenty: between one out of twenty and two allocations over ten steps.
TEST(Allocate, SeveralTimesLieBetweenTwoPairs) {
  const auto delta = [](const char* plan) { return analyze(parse(plan), add_remove, loose).delta_at(0.5, Direction::add); };
  const Interval twice = delta("gaussian(1) | allocate(steps=20, times=2)");
  EXPECT_TRUE(overlap(Interval::exactly(twice.hi), delta("gaussian(1) | allocate(10) | repeat(2)")));
  EXPECT_TRUE(overlap(Interval::exactly(twice.lo), delta("gaussian(1) | allocate(20)")));
  EXPECT_LT(twice.lo, twice.hi);
  // All steps: one Gaussian.
  EXPECT_TRUE(overlap(delta("gaussian(2) | allocate(steps=4, times=4)"), delta("gaussian(1)")));
}

TEST(Allocate, ExplainsHowOftenARecordTakesPart) {
  const Curve curve = analyze(parse("gaussian(1) | allocate(steps=100, passes=3)"), add_remove);
  const Provenance how = provenance_of([&] { (void)curve.delta_at(1.0); });
  bool found = false;
  for (const Step& step : how.steps)
    found = found || step.detail.find("takes part exactly 3 times in 300 steps, redrawn every 300 steps") != std::string::npos;
  EXPECT_TRUE(found);
}

TEST(Allocate, RefusesWhatIsNotProved) {
  EXPECT_THAT(refused("laplace(1) | allocate(10)"), HasSubstr("Gaussian noise only"));
  EXPECT_THAT(refused("gaussian(1) | poisson(0.1) | allocate(10)"), HasSubstr("Gaussian noise only"));
  EXPECT_THAT(refused("gaussian(1) | group(2) | allocate(10)"), HasSubstr("group"));
  EXPECT_THAT(refused("gaussian(1) | allocate(0)"), HasSubstr("steps"));
  EXPECT_THAT(refused("gaussian(1) | allocate(100000000)"), HasSubstr("steps"));
  EXPECT_THAT(refused("gaussian(1) | allocate(1.5)"), HasSubstr("steps"));
  EXPECT_THAT(refused("gaussian(1) | allocate(steps=3, times=4)"), HasSubstr("at most steps = 3"));
  EXPECT_THAT(refused("gaussian(1) | shuffle(10)", add_remove), HasSubstr("add-remove"));
  EXPECT_THAT(refused("laplace(1) | shuffle(10)"), HasSubstr("Gaussian noise only"));
  EXPECT_THAT(refused("gaussian(1) | shuffle(10, reuse=maybe)"), HasSubstr("true"));
  EXPECT_THAT(refused("gaussian(1) | shuffle(10, passes=2, reuse=true) | repeat(2)"), HasSubstr("reuse"));
}

// A Poisson accountant would say 1.43.
TEST(Shuffle, TrainingRunLiesInANarrowInterval) {
  const Interval epsilon = analyze(parse("gaussian(0.6) | shuffle(1000)"), zero_out).epsilon_at(1e-5);
  EXPECT_GE(epsilon.lo, 7.98);
  EXPECT_LE(epsilon.lo, 8.0037);
  EXPECT_LE(epsilon.hi, 8.0038);
  EXPECT_GE(epsilon.hi, 8.0036);
}

TEST(Shuffle, LiesAboveAllocationAndBelowOneGaussianPerPass) {
  for (const Neighbours neighbours : {zero_out, replace_one}) {
    const Interval delta = analyze(parse("gaussian(1) | shuffle(10)"), neighbours).delta_at(1.0);
    EXPECT_TRUE(overlap(Interval::exactly(delta.hi), analyze(parse("gaussian(1)"), neighbours).delta_at(1.0)));
    EXPECT_GE(delta.lo, analyze(parse("gaussian(1) | allocate(10)"), add_remove).delta_at(1.0).lo * (1 - 1e-5));
  }
  const Interval reused = analyze(parse("gaussian(2) | shuffle(10, passes=4, reuse=true)"), zero_out).delta_at(1.0);
  EXPECT_TRUE(overlap(Interval::exactly(reused.hi), analyze(parse("gaussian(1)"), zero_out).delta_at(1.0)));
  const Interval fresh = analyze(parse("gaussian(2) | shuffle(10, passes=4)"), zero_out, loose).delta_at(1.0);
  EXPECT_TRUE(overlap(Interval::exactly(fresh.hi), analyze(parse("gaussian(1)"), zero_out).delta_at(1.0)));
  EXPECT_LE(fresh.lo, reused.hi);
}

}  // namespace
}  // namespace tradeoff::detail
