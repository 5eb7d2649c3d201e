// SPDX-License-Identifier: Apache-2.0
// [parameter-calibration]
#include "calibrate/summed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "support/matchers.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/calibrate.h"

namespace tradeoff::detail {
namespace {

using test::IsTight;

/// delta of so many runs of integers with Gaussian weights, each moved by `shift`, by summing over all outcomes.
long double brute_force(long double sigma, int runs, int shift, long double epsilon) {
  const int reach = static_cast<int>(std::ceil(12 * sigma)) + 2;
  std::vector<long double> one, law{1};
  long double total = 0;
  for (int y = -reach; y <= reach; ++y) {
    one.push_back(std::exp(-static_cast<long double>(y) * y / (2 * sigma * sigma)));
    total += one.back();
  }
  for (int run = 0; run < runs; ++run) {
    std::vector<long double> next(law.size() + one.size() - 1, 0);
    for (std::size_t i = 0; i < law.size(); ++i)
      for (std::size_t j = 0; j < one.size(); ++j) next[i + j] += law[i] * one[j] / total;
    law = std::move(next);
  }
  long double delta = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    const long double sum = static_cast<long double>(i) - runs * reach;
    const long double loss = shift * (static_cast<long double>(runs) * shift - 2 * sum) / (2 * sigma * sigma);
    if (loss > epsilon) delta -= law[i] * std::expm1(epsilon - loss);
  }
  return delta;
}

Targets budget(double epsilon) { return {{Guarantee{Interval::exactly(epsilon), Interval::exactly(1e-6)}, {}}}; }

TEST(SummedNoise, IsNeverMoreRevealingThanAnyScaleOfTheRange) {
  std::mt19937 draw(7);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(draw); };
  for (int i = 0; i < test::scaled(120); ++i) {
    const int runs = static_cast<int>(uniform(1, 6)), size = static_cast<int>(uniform(1, 4));
    const double low = std::exp(uniform(std::log(0.3), std::log(8.0))), high = low * (1 + std::exp(uniform(-9, 0)));
    const std::string plan = "discrete_gaussian(sigma=?) | group(" + std::to_string(size) + ") | repeat(" + std::to_string(runs) + ")";
    SCOPED_TRACE(plan + " from " + std::to_string(low) + " to " + std::to_string(high));
    auto noise = SummedNoise::of(parse(plan));
    ASSERT_TRUE(noise);
    const double mu = size * std::sqrt(runs) / low, epsilon = uniform(-1, 6) * mu;
    const LossPointer weaker = noise->weaker_loss(i % 5 == 0 ? 0 : low, high, budget(std::max(epsilon, 0.0)), i % 2 == 0);
    if (weaker == nullptr) continue;
    for (const double scale : {low, low + (high - low) * uniform(0, 1), high})
      for (const double at : {epsilon, 0.0, 0.5 * mu * mu, uniform(-2, 8) * mu}) {
        const auto exact = static_cast<double>(brute_force(scale, runs, size, at));
        EXPECT_LE(weaker->delta(Direction::remove, Interval::exactly(at)).lo, exact * (1 + 1e-10) + 1e-25) << scale << " at " << at;
        EXPECT_LE(weaker->delta(Direction::add, Interval::exactly(at)).lo, exact * (1 + 1e-10) + 1e-25) << scale << " at " << at;
      }
  }
}

TEST(SummedNoise, IsAsRevealingAsTheNoiseForShortRanges) {
  for (const double epsilon : {0.5, 2.0, 8.0})
    for (const double sigma : {0.9, 3.0, 20.0}) {
      auto noise = SummedNoise::of(parse("discrete_gaussian(sigma=?) | repeat(4)"));
      const LossPointer weaker = noise->weaker_loss(sigma, sigma * (1 + 1e-9), budget(epsilon), false);
      ASSERT_NE(weaker, nullptr);
      const auto exact = static_cast<double>(brute_force(sigma, 4, 1, epsilon));
      if (exact < 1e-20) continue;
      EXPECT_GE(weaker->delta(Direction::remove, Interval::exactly(epsilon)).lo, exact * (1 - 1e-5)) << sigma << " " << epsilon;
    }
}

TEST(SummedNoise, SourceIsNeverMoreRevealingThanOneRun) {
  std::mt19937 draw(11);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(draw); };
  int tight = 0;
  for (int i = 0; i < test::scaled(60); ++i) {
    const int shift = static_cast<int>(uniform(1, 4));
    const double low = std::exp(uniform(std::log(0.3), std::log(8.0))), high = low * (1 + std::exp(uniform(-14, -1)));
    const std::string text = "discrete_gaussian(sigma=?, sensitivity=" + std::to_string(shift) + ") | poisson(rate=0.1) | repeat(3)";
    SCOPED_TRACE(text + " from " + std::to_string(low) + " to " + std::to_string(high));
    auto noise = SummedNoise::one_run_of(parse(text));
    ASSERT_TRUE(noise);
    const auto source = noise->weaker_source(low, high, budget(1));
    if (!source) continue;
    Plan alone;
    alone.lines.push_back({*source, {}});
    const Curve weaker = analyze(alone);
    const double mu = shift / low;
    for (const double scale : {low, low + (high - low) * uniform(0, 1), high})
      for (const double at : {0.0, 0.5 * mu * mu, uniform(0, 6) * mu}) {
        const auto exact = static_cast<double>(brute_force(scale, 1, shift, at));
        const Interval found = weaker.delta_at(at);
        EXPECT_LE(found.lo, exact * (1 + 1e-10) + 1e-25) << scale << " at " << at;
        if (high < low * 1.0001 && exact > 1e-6) tight += found.lo > exact * 0.99;
      }
  }
  EXPECT_GT(tight, 20) << "short ranges lose little";
}

TEST(SummedNoise, IsForRepetitionsAndGroupsOnly) {
  for (const char* plan : {"discrete_gaussian(sigma=?) | poisson(rate=0.1)", "truncated_laplace(scale=?, bound=4)", "gaussian(sigma=?)",
                           "discrete_gaussian(sigma=?) | repeat(0)", "discrete_gaussian(sigma=?, sensitivity=0)",
                           "discrete_gaussian(sigma=?); laplace(scale=2) | poisson(rate=0.1) | group(2)",
                           "(discrete_gaussian(sigma=?); laplace(scale=2)) | repeat(2)"})
    EXPECT_FALSE(SummedNoise::of(parse(plan))) << plan;
  EXPECT_TRUE(SummedNoise::of(parse("laplace(scale=2) | group(2) | repeat(3); discrete_gaussian(sigma=?) | repeat(3)")));
  EXPECT_TRUE(SummedNoise::of(parse("laplace(scale=2) | poisson(rate=0.1); discrete_gaussian(sigma=?) | repeat(3) | group(2)")));
}

/// The upper end is verified by the search; here the value just below the lower end misses the target.
TEST(SummedNoise, CalibratesToTenDigits) {
  struct Case {
    const char* plan;
    Target target;
    double width = 2e-9;
  };
  const auto budget_of = [](double epsilon, double delta) { return Guarantee{Interval::exactly(epsilon), Interval::exactly(delta)}; };
  for (const Case& one :
       {Case{"discrete_gaussian(sigma=?) | repeat(353)", budget_of(16, 1e-6)},
        Case{"discrete_gaussian(sigma=?) | group(3) | repeat(5418)", budget_of(2500, 1e-6)},
        Case{"discrete_gaussian(sigma=?, sensitivity=2) | repeat(40)", budget_of(3, 1e-10)},
        Case{"discrete_gaussian(sigma=?)", budget_of(0.5, 1e-3)},
        Case{"discrete_gaussian(sigma=?) | repeat(40); gaussian(sigma=2)", budget_of(4, 1e-5), 2e-8},
        Case{"randomized_response(epsilon=0.3) | repeat(7); discrete_gaussian(sigma=?) | repeat(12)", budget_of(3, 1e-5), 2e-6},
        Case{"discrete_gaussian(sigma=?) | repeat(20); gaussian(sigma=2) | group(2) | repeat(3)", budget_of(12, 1e-6), 1e-7},
        Case{"discrete_gaussian(sigma=?) | poisson(rate=0.2) | repeat(300)", budget_of(4, 1e-6), 1e-6},
        Case{"discrete_gaussian(sigma=?) | repeat(9)", AdvantageTarget{Interval::exactly(0.2)}}}) {
    SCOPED_TRACE(one.plan);
    const Calibration found = calibrate(parse(one.plan), one.target);
    EXPECT_THAT(found.value, IsTight(one.width));
    std::string text = one.plan;
    text.replace(text.find('?'), 1, std::to_string(found.value.lo * (1 - 1e-6)));
    const Curve below = analyze(parse(text));
    const auto* pair = std::get_if<Guarantee>(&one.target);
    EXPECT_TRUE(pair == nullptr || below.delta_at(pair->epsilon).lo > pair->delta.hi);
  }
}

}  // namespace
}  // namespace tradeoff::detail
