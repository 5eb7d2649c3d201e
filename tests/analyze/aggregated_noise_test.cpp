// SPDX-License-Identifier: Apache-2.0
// [honest-noise], [skellam-noise], [binomial-noise], [discrete-gaussian-sum], [discrete-laplace-sum]
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/plan.h"

namespace tradeoff {
namespace {

using testing::HasSubstr;

Interval delta(const std::string& text, double epsilon = 0.5) { return analyze(parse(text)).delta_at(epsilon); }

std::string refusal(const std::string& text) {
  try {
    (void)analyze(parse(text));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

void expect_meet(Interval a, Interval b) {
  EXPECT_LE(a.lo, b.hi);
  EXPECT_LE(b.lo, a.hi);
}

TEST(HonestNoise, OneClientThatRemainsIsTheSingleNoise) {
  EXPECT_EQ(delta("discrete_gaussian_sum(sigma=2, clients=10, dropouts=9)"), delta("discrete_gaussian(sigma=2)"));
  EXPECT_EQ(delta("discrete_laplace_sum(scale=2, clients=10, honest=0.1)"), delta("discrete_laplace(scale=2)"));
  expect_meet(delta("skellam(variance=2, clients=10, honest=0.5, dropouts=4)"), delta("skellam(variance=2)"));
  expect_meet(delta("binomial_noise(trials=20, clients=10, honest=0.5, dropouts=4)"), delta("binomial_noise(trials=20)"));
}

TEST(HonestNoise, CountsWholeClients) {
  expect_meet(delta("skellam(variance=2, clients=10, honest=0.75)"), delta("skellam(variance=16)"));             // 7.5 of them are 8
  expect_meet(delta("skellam(variance=2, clients=10, honest=0.7, dropouts=2)"), delta("skellam(variance=10)"));  // exactly 7, less 2
  expect_meet(delta("binomial_noise(trials=4, clients=9, honest=1/3)"), delta("binomial_noise(trials=12)"));
  const auto remains = [](const std::string& clients) { return delta("discrete_laplace_sum(scale=1, " + clients + ")").hi; };
  EXPECT_LT(remains("clients=10"), remains("clients=10, dropouts=2"));
  EXPECT_LT(remains("clients=10, dropouts=2"), remains("clients=10, honest=0.7, dropouts=2"));
}

TEST(HonestNoise, RefusesWhatLeavesNoNoise) {
  EXPECT_THAT(refusal("skellam(variance=2, clients=10, honest=0.5, dropouts=5)"), HasSubstr("below the number of honest clients, 5"));
  EXPECT_THAT(refusal("discrete_gaussian_sum(sigma=1, clients=3, honest=0)"), HasSubstr("honest = 0"));
  EXPECT_THAT(refusal("skellam(variance=2, coordinates=100)"), HasSubstr("for vectors only bounds are known"));
  EXPECT_THAT(refusal("skellam(variance=0)"), HasSubstr("variance = 0"));
  EXPECT_THAT(refusal("skellam(variance=1e9)"), HasSubstr("above 1e8"));
  EXPECT_THAT(refusal("binomial_noise(trials=10, chance=1)"), HasSubstr("above 0 and below 1"));
  EXPECT_THAT(refusal("binomial_noise(trials=10, chance=0)"), HasSubstr("above 0 and below 1"));
  EXPECT_THAT(refusal("discrete_gaussian_sum(sigma=0.3, clients=1e8)"), HasSubstr("not supported"));
  EXPECT_THAT(refusal("discrete_laplace_sum(scale=1e5, clients=3)"), HasSubstr("coarser grid"));
}

TEST(AggregatedNoise, ComposesAndKeepsPureLosses) {
  EXPECT_EQ(analyze(parse("discrete_laplace_sum(scale=2, clients=5, sensitivity=3)")).pure_epsilon()->text, "1.5");
  const Interval twice = delta("skellam(variance=50) | repeat(2)"), once = delta("skellam(variance=50)", 0.25);
  EXPECT_LE(twice.lo, 2 * once.hi);
  EXPECT_GT(twice.hi, 0);
  // wide noise is nearly Gaussian: mu = 1
  expect_meet(delta("skellam(variance=1e6, sensitivity=1000)", 1), {0.1269, 0.12695});
  expect_meet(delta("binomial_noise(trials=4e6, sensitivity=1000)", 1), {0.1269, 0.12695});
}

// What is beyond the tables is known: mu is finite, and no value of the profile is above that of the Gaussian with this mu.
TEST(AggregatedNoise, HasAFiniteMu) {
  for (const std::string plan :
       {"skellam(variance=21) | repeat(20)", "skellam(variance=93, sensitivity=3)",
        "discrete_gaussian_sum(sigma=1.52, clients=6) | repeat(135)", "discrete_gaussian_sum(sigma=0.8, clients=3) | repeat(2)",
        "skellam(variance=21) | repeat(4); laplace(scale=3)"}) {
    const Curve curve = analyze(parse(plan));
    const Interval mu = measure_mu(curve).mu;
    ASSERT_LT(mu.hi, 10) << plan;
    EXPECT_LT(mu.width(), 0.1 * mu.hi) << plan;
    const Curve gaussian = analyze(parse("gdp(mu=" + std::to_string(mu.hi + 1e-6) + ")"));  // to_string has six digits
    for (const double epsilon : {0.0, 0.1, 0.5, 1.0, 3.0, 8.0})
      EXPECT_LE(curve.delta_at(epsilon).lo, gaussian.delta_at(epsilon).hi) << plan << " " << epsilon;
  }
}

// Skewed noise: the answer may rise or fall, and the larger of both orders is charged.
TEST(AggregatedNoise, SkewedBinomialCoversBothOrders) {
  const Curve skewed = analyze(parse("binomial_noise(trials=20, chance=0.3, sensitivity=2)"), Neighbours::add_remove);
  for (const double epsilon : {0.0, 0.4, 1.0}) {
    const Interval remove = skewed.delta_at(epsilon, Direction::remove), add = skewed.delta_at(epsilon, Direction::add);
    EXPECT_EQ(remove.hi, add.hi);
    EXPECT_GE(remove.hi, std::max(remove.lo, add.lo));
    EXPECT_LE(remove.hi, std::max(remove.lo, add.lo) * 1.05 + 1e-9);
  }
}

// By direct sums: the answer rises or falls by the whole sensitivity, and no other law of it is worse.
TEST(AggregatedNoise, SkewedBinomialIsTheWorseOfBothOrders) {
  constexpr int trials = 20, shift = 3;
  std::vector<double> law(trials + 1, 0);
  for (int k = 0; k <= trials; ++k)
    law[static_cast<std::size_t>(k)] = std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                                                k * std::log(0.3) + (trials - k) * std::log(0.7));
  const auto mass = [&](int k) { return k < 0 || k > trials ? 0 : law[static_cast<std::size_t>(k)]; };
  for (const double epsilon : {0.0, 0.3, 1.0, 2.5}) {
    double rising = 0, falling = 0;
    for (int k = -shift; k <= trials + shift; ++k) {
      rising += std::max(0.0, mass(k - shift) - std::exp(epsilon) * mass(k));
      falling += std::max(0.0, mass(k) - std::exp(epsilon) * mass(k - shift));
    }
    const double truth = std::max(rising, falling);
    const std::string plan = "binomial_noise(trials=20, chance=0.3, sensitivity=3)";
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const Interval found = analyze(parse(plan), Neighbours::add_remove).delta_at(epsilon, direction);
      EXPECT_LE(found.lo, truth * (1 + 1e-9)) << epsilon;
      EXPECT_GE(found.lo, truth * (1 - 1e-9)) << epsilon;
      EXPECT_GE(found.hi, truth * (1 - 1e-9)) << epsilon;
      EXPECT_LE(found.hi, truth * 1.01) << epsilon;
    }
    EXPECT_LE(delta(plan, epsilon).lo, truth * (1 + 1e-9));
    EXPECT_LE(analyze(parse(plan), Neighbours::replace_one).delta_at(epsilon).lo, truth * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace tradeoff
