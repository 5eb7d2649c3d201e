// SPDX-License-Identifier: Apache-2.0
// [whole-gaussian-mu]
#include "loss/whole_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "curve/curve_state.h"
#include "loss/tail.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail {
namespace {

using Noises = std::vector<std::pair<WholeGaussian, std::uint64_t>>;

double known_mu(const Noises& noises, double beside = 0) {
  Tail tail;
  lower_gdp_mu(tail, noises, beside);
  return tail.gdp_mu;
}

/// The largest mu of a threshold test between the sum of so many discrete Gaussians and that sum moved, by brute force.
long double brute_mu(long double sigma, int runs, int shift) {
  const int reach = static_cast<int>(std::ceil(12 * sigma * std::sqrt(static_cast<long double>(runs)))) + 2;
  std::vector<long double> one, law{1};
  for (int y = -reach; y <= reach; ++y) one.push_back(std::exp(-static_cast<long double>(y) * y / (2 * sigma * sigma)));
  for (int run = 0; run < runs; ++run) {
    std::vector<long double> next(law.size() + one.size() - 1, 0);
    for (std::size_t i = 0; i < law.size(); ++i)
      for (std::size_t j = 0; j < one.size(); ++j) next[i + j] += law[i] * one[j];
    const std::size_t cut = run == 0 ? 0 : static_cast<std::size_t>(reach);
    law.assign(next.begin() + static_cast<std::ptrdiff_t>(cut), next.end() - static_cast<std::ptrdiff_t>(cut));
  }
  long double total = 0, sum = 0, best = 0;
  for (const long double mass : law) total += mass;
  std::vector<long double> quantiles;  // of the sums of all masses up to each place, by bisection of erfc
  for (const long double mass : law) {
    sum += mass;
    long double low = -12, high = 12;
    for (int i = 0; i < 100; ++i) {
      const long double middle = (low + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0L)) / 2 < sum / total ? low : high) = middle;
    }
    quantiles.push_back(low);
  }
  for (std::size_t k = static_cast<std::size_t>(runs * shift); k < quantiles.size(); ++k)
    if (std::abs(quantiles[k]) < 5 && std::abs(quantiles[k - static_cast<std::size_t>(runs * shift)]) < 5)
      best = std::max(best, quantiles[k] - quantiles[k - static_cast<std::size_t>(runs * shift)]);
  return best;
}

TEST(WholeGaussian, IsHardlyAboveTheWorstThreshold) {
  struct Case {
    double sigma;
    int runs, shift;
  };
  for (const auto& [sigma, runs, shift] : {Case{1.5, 1, 1}, {2, 1, 1}, {2, 1, 3}, {5, 1, 2}, {1.8, 3, 1}, {2.5, 4, 2}, {1.5, 5, 1}}) {
    const long double truth = brute_mu(sigma, runs, shift);
    const double found = known_mu({{{Interval::exactly(sigma), static_cast<double>(shift)}, static_cast<std::uint64_t>(runs)}});
    const double variance = sigma * sigma * runs, mu = static_cast<double>(truth);
    // for 1.5, five times, the sum is not that close to one discrete Gaussian
    const double doubt = runs > 1 ? 6 * std::exp(-M_PI * M_PI * sigma * sigma) * 2 : 0;
    EXPECT_GE(found, truth) << sigma << " " << runs << " " << shift;
    EXPECT_LE(found, mu * (1 + (0.003 + 0.002 * mu * mu) / (variance * variance)) + doubt) << sigma << " " << runs << " " << shift;
  }
}

TEST(WholeGaussian, ClaimsNothingWithoutNoise) {
  EXPECT_EQ(known_mu({{{Interval::exactly(1), 1}, 1}}), infinity);
  EXPECT_EQ(known_mu({{{Interval::exactly(0.4), 1}, 1000}}), infinity) << "the sum is far from a discrete Gaussian";
  EXPECT_EQ(known_mu({{{Interval::exactly(2), 1}, 1}}, infinity), infinity);
  EXPECT_EQ(known_mu({{{Interval::exactly(0.3), 1}, 1}}, 0.5), infinity) << "the lattice is too coarse to be smoothed";
}

// The transform of both together is largest far out, and there it tends to the bound.
TEST(WholeGaussian, BesideGaussianNoiseNothingIsLeftOfTheLattice) {
  const double found = known_mu({{{Interval::exactly(3), 1}, 40}}, 0.25);
  const double gaussian = std::sqrt(40.0 / 9 + 0.0625);
  EXPECT_GE(found, gaussian);
  EXPECT_LE(found, gaussian * (1 + 1e-13));
  // with a coarser lattice the profile of the pair itself is the judge: one coin of Gaussian noise beside little discrete noise
  const Curve coarse = analyze(parse("discrete_gaussian(sigma=1.1); gaussian(sigma=1.4)"));
  const double claimed = known_mu({{{Interval::exactly(1.1), 1}, 1}}, 1 / 1.4 * (1 + 1e-15));
  ASSERT_LT(claimed, 1.2);
  double seen = 0;
  for (double epsilon = 0; epsilon < 8; epsilon += 0.02) seen = std::max(seen, gdp_transform_at(coarse, Interval::exactly(epsilon)).lo);
  EXPECT_GE(claimed, seen);
}

TEST(WholeGaussian, MeasuresOfPlans) {
  struct Case {
    const char* plan;
    double width;
  };
  for (const auto& [plan, width] :
       {Case{"discrete_gaussian(sigma=6.66) | repeat(353)", 1e-10},
        {"discrete_gaussian(sigma=1.86) | repeat(3569)", 2e-9},
        {"discrete_gaussian(sigma=3) | repeat(40); gaussian(sigma=4)", 1e-13},
        {"discrete_gaussian(sigma=3.39) | repeat(9)", 1e-6},
        {"discrete_gaussian(sigma=4) | repeat(4709); gaussian(sigma=18.9) | poisson(rate=0.428) | repeat(25)", 1e-13},
        {"discrete_gaussian(sigma=8) | group(3) | repeat(100); gdp(mu=0.2)", 1e-13}}) {
    const GdpMeasurement found = measure_mu(analyze(parse(plan)));
    EXPECT_LE(found.mu.width(), width * found.mu.hi) << plan;
    EXPECT_GE(found.mu.lo, found.tail.limit.lo) << plan;
  }
  // an even number of steps has its peaks half a step beside 0, an odd one at 0
  const GdpMeasurement even = measure_mu(analyze(parse("discrete_gaussian(sigma=50) | repeat(1000)")));
  EXPECT_LE(even.mu.width(), 1e-12);
}

TEST(WholeGaussian, SampledNoiseIsNoWorse) {
  const auto tail_of_plan = [](const char* plan) { return loss_of(analyze(parse(plan)))->tail(); };
  const Tail whole = tail_of_plan("discrete_gaussian(sigma=9.87) | repeat(30); laplace(scale=2)");
  const Tail sampled = tail_of_plan("discrete_gaussian(sigma=9.87) | poisson(rate=0.219) | repeat(30); laplace(scale=2)");
  EXPECT_LT(sampled.gdp_mu, infinity);
  EXPECT_GE(sampled.gdp_mu, whole.gdp_mu);  // each run alone, and without the Laplace noise that smooths the lattice
  EXPECT_LE(sampled.gdp_mu, 1.001 * whole.gdp_mu);
}

}  // namespace
}  // namespace tradeoff::detail
