// SPDX-License-Identifier: Apache-2.0
// Audits of honest and of broken programs. [betting-audit] [rate-sequence]
#include "audit/two_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::audit {
namespace {

using Words = std::mt19937_64;
/// An output on the data with the record (true) or without it.
using Program = std::function<std::vector<double>(bool, Words&)>;

Result audit_of(const char* plan, const Program& program, std::uint64_t pairs, std::uint64_t seed, Settings settings = {}) {
  Words words(seed);
  settings.samples = pairs;
  TwoSampleAudit auditor(analyze(parse(plan)), Direction::worst, settings);
  for (std::uint64_t i = 0; i < pairs; ++i) auditor.add(program(true, words), program(false, words));
  return auditor.result();
}

double normal(Words& words) { return std::normal_distribution<double>()(words); }
double unit(Words& words) { return std::uniform_real_distribution<double>(0, 1)(words); }

Program gaussian(double sigma, double shift = 1) {
  return [=](bool with, Words& words) { return std::vector<double>{(with ? shift : 0) + sigma * normal(words)}; };
}
double laplace_noise(double scale, Words& words) {
  const double u = unit(words) - 0.5;
  return -scale * std::copysign(1.0, u) * std::log1p(-2 * std::abs(u));
}
Program laplace(double scale) {
  return [=](bool with, Words& words) { return std::vector<double>{(with ? 1 : 0) + laplace_noise(scale, words)}; };
}
Program response(double epsilon) {
  return [=](bool with, Words& words) {
    const bool truth = unit(words) < 1 / (1 + std::exp(-epsilon));
    return std::vector<double>{truth == with ? 1.0 : 0.0};
  };
}

struct Case {
  const char* plan;
  Program program;
};

TEST(HonestProgram, IsSeldomRefutedAtTheBoundaryOfItsClaim) {
  const Program unit_vector = [](bool with, Words& words) {
    return std::vector<double>{(with ? 0.6 : 0) + normal(words), (with ? -0.8 : 0) + normal(words)};
  };
  const std::vector<Case> cases = {{"gaussian(sigma=1)", gaussian(1)},
                                   {"dp(epsilon=1)", response(1)},
                                   {"dp(epsilon=0.1)", response(0.1)},
                                   {"laplace(scale=1)", laplace(1)},
                                   {"gaussian(sigma=1)", unit_vector}};
  constexpr double error = 0.05;
  for (const Case& one : cases) {
    int refuted = 0;
    constexpr int runs = 150;
    for (int i = 0; i < runs; ++i)
      refuted += audit_of(one.plan, one.program, 600, static_cast<std::uint64_t>(i), {.error = error}).verdict == Verdict::refuted ? 1 : 0;
    EXPECT_LE(refuted, 21) << one.plan;  // more than 21 of 150 have probability 1e-5 at the stated error
  }
}

TEST(BrokenProgram, IsRefuted) {
  const Program vector_of_four = [](bool with, Words& words) {  // sensitivity 1 in each of four coordinates, noise for 1 in all
    std::vector<double> row(4);
    for (double& x : row) x = (with ? 1 : 0) + normal(words);
    return row;
  };
  const Program linked = [](bool with, Words& words) {  // each coordinate by itself has the same law; only their signs go together
    const double x = normal(words), y = std::abs(normal(words));
    return std::vector<double>{x, (x > 0) == with ? y : -y};
  };
  const Program bimodal = [](bool with, Words& words) { return std::vector<double>{(with && unit(words) < 0.5 ? -5 : 5) + normal(words)}; };
  const Program releases = [](bool with, Words& words) { return std::vector<double>{with && unit(words) < 0.05 ? 1.0 : 0.0}; };
  const std::vector<Case> cases = {
      {"gaussian(sigma=1)", gaussian(0.5)}, {"gaussian(sigma=1)", gaussian(1, 2)},  {"laplace(scale=1)", laplace(0.5)},
      {"dp(epsilon=1)", response(1.5)},     {"gaussian(sigma=1)", vector_of_four},  {"gaussian(sigma=1)", linked},
      {"dp(epsilon=1)", bimodal},           {"dp(epsilon=2, delta=1e-5)", releases}};
  for (const Case& one : cases) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Result result = audit_of(one.plan, one.program, 4000, seed);
      ASSERT_EQ(result.verdict, Verdict::refuted) << one.plan << " " << seed;
      EXPECT_GE(result.evidence, 1000);
      EXPECT_LE(result.refutation->pairs, 4000U);
      EXPECT_FALSE(result.refutation->event.empty());
    }
  }
}

TEST(LowBits, ShowNoiseInFloatingPointArithmetic) {
  const Result broken = audit_of("laplace(scale=1)", laplace(1), 2000, 1, {.features = Features::low_bits});
  EXPECT_EQ(broken.verdict, Verdict::refuted);
  const Program on_grid = [](bool with, Words& words) {
    return std::vector<double>{(with ? 1 : 0) + std::round(laplace_noise(1, words) * 1024) / 1024};
  };
  EXPECT_NE(audit_of("laplace(scale=0.99)", on_grid, 2000, 1, {.features = Features::low_bits}).verdict, Verdict::refuted);
}

TEST(Band, BoundsAreBelowTheTruthAndNearIt) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Result result = audit_of("gaussian(sigma=1)", gaussian(1), 2000, seed, {.error = 0.01});
    EXPECT_LE(result.mu_below, 1);
    EXPECT_LE(result.advantage_below, 0.3829249225480263);
    EXPECT_LE(result.delta_below(1), 0.1269365050);
    EXPECT_LE(result.epsilon_below(1e-5), 4.3771);
  }
  const Result long_run = audit_of("gaussian(sigma=1)", gaussian(1), 60000, 3);
  EXPECT_GT(long_run.mu_below, 0.93);
  EXPECT_EQ(long_run.verdict, Verdict::consistent);
}

TEST(Verdict, IsInconclusiveWithFewSamplesAndSaysHowManyMore) {
  const Result result = audit_of("gaussian(sigma=1)", gaussian(0.99), 500, 2);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  ASSERT_TRUE(result.more_pairs.has_value());
  EXPECT_GT(*result.more_pairs, 0U);
}

TEST(BadInput, IsRefused) {
  const Curve curve = analyze(parse("gaussian(sigma=1)"));
  TwoSampleAudit auditor(curve, Direction::worst, {.samples = 100});
  const std::vector<double> one = {1}, two = {1, 2}, none, bad = {std::numeric_limits<double>::quiet_NaN()},
                            large = {std::numeric_limits<double>::infinity()};
  EXPECT_THROW(auditor.add(one, two), DomainError);
  EXPECT_THROW(auditor.add(none, none), DomainError);
  EXPECT_THROW(auditor.add(one, bad), DomainError);
  EXPECT_THROW(auditor.add(large, one), DomainError);
  EXPECT_EQ(auditor.pairs(), 0U);
  EXPECT_THROW((void)auditor.result(), DomainError);
  for (int i = 0; i < 100; ++i) auditor.add(one, one);
  EXPECT_THROW((void)auditor.result(), DomainError);  // all outputs are the same
  EXPECT_THROW(TwoSampleAudit(curve, Direction::worst, {.samples = 99}), DomainError);
  EXPECT_THROW(TwoSampleAudit(curve, Direction::worst, {.error = 0, .samples = 100}), DomainError);
  EXPECT_THROW(TwoSampleAudit(curve, Direction::worst, {.samples = 100, .margin = 0}), DomainError);
}

TEST(Direction, HoldsTheFirstStreamToTheFirstDataSet) {
  // Poisson sampling is not symmetric: with --direction remove the stream with the record is the mixture.
  Words words(5);
  const Curve curve = analyze(parse("gaussian(sigma=0.5) | poisson(rate=0.2)"), Neighbours::add_remove);
  TwoSampleAudit right(curve, Direction::remove, {.samples = 20000}), swapped(curve, Direction::add, {.samples = 20000});
  for (int i = 0; i < 20000; ++i) {
    const std::vector<double> with = {(unit(words) < 0.2 ? 1 : 0) + 0.5 * normal(words)}, without = {0.5 * normal(words)};
    right.add(with, without);
    swapped.add(with, without);
  }
  EXPECT_NE(right.result().verdict, Verdict::refuted);
  EXPECT_EQ(swapped.result().verdict, Verdict::refuted);
}

}  // namespace
}  // namespace tradeoff::detail::audit
