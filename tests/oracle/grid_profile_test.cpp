// SPDX-License-Identifier: Apache-2.0
// The distributions that are drawn on a grid, with their profiles summed output by output in ball arithmetic: the closed forms agree to 40
// digits, and the accountant's intervals contain the sums. 1,000 random parameter sets. [discrete-laplace] [truncation-bound]
#include <arb.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "support/ball.h"
#include "support/matchers.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail::test {
namespace {

Ball power(const Ball& a, std::int64_t n) {
  Ball result;
  arb_pow_ui(result.get(), a.get(), static_cast<ulong>(n), Ball::precision);
  return result;
}
Ball positive_part(const Ball& a) {
  Ball result;
  arb_max(result.get(), a.get(), Ball(0).get(), Ball::precision);
  return result;
}
Ball widened(const Ball& a, double by) {
  Ball result = a;
  arb_add_error(result.get(), Ball(by).get());
  return result;
}
double size_of(const Ball& a) { return std::abs(a.middle()) + mag_get_d(arb_radref(a.get())); }

/// sum over k of max(0, p(k) - e^eps p(k - shift)) / sum of p, for p(k) = weights[|k|], 0 beyond; what is cut off is at most `cut`.
Ball by_summing(const std::vector<Ball>& weights, std::int64_t shift, const Ball& factor, double cut) {
  const auto reach = static_cast<std::int64_t>(weights.size()) - 1;
  const Ball zero;
  const auto p = [&](std::int64_t k) { return std::abs(k) > reach ? zero : weights[static_cast<std::size_t>(std::abs(k))]; };
  Ball total, sum;
  for (std::int64_t k = -reach; k <= reach; ++k) total = total + p(k);
  for (std::int64_t k = -reach; k <= reach + shift; ++k) sum = sum + positive_part(p(k) - factor * p(k - shift));
  return widened(sum / total, cut);
}

/// For epsilon < shift / scale: 1 - (a^(m+1) + e^epsilon a^(shift-m)) / (1 + a), m = ceil((shift - epsilon scale) / 2) - 1.
Ball closed_form(const Ball& a, std::int64_t shift, const Ball& factor, std::int64_t m) {
  return Ball(1) - (power(a, m + 1) + factor * power(a, shift - m)) / (Ball(1) + a);
}

std::string number(double value) { return exact_number(value).text; }

struct Case {
  double scale;
  std::int64_t shift;
  double epsilon;
  std::int64_t bound;
};

Case random_case(std::mt19937_64& random) {
  const auto scale = static_cast<double>(64 + random() % 448) / 128;  // dyadic, from 1/2 to 4
  const auto shift = static_cast<std::int64_t>(1 + random() % 5);
  const double epsilon =
      std::ldexp(std::floor(std::ldexp(static_cast<double>(shift) / scale, 20) * static_cast<double>(random() % 997) / 1000), -20);
  return {scale, shift, epsilon, shift + static_cast<std::int64_t>(random() % 30)};
}

TEST(GridProfile, OfDiscreteLaplaceNoiseEqualsItsSum) {
  std::mt19937_64 random(7);
  for (int i = 0; i < scaled(1000); ++i) {
    const Case one = random_case(random);
    const Ball a = exp(Ball(-1) / Ball(one.scale)), factor = exp(Ball(one.epsilon));
    std::vector<Ball> weights{Ball(1)};
    while (static_cast<double>(weights.size()) < 130 * one.scale) weights.push_back(weights.back() * a);
    const Ball sum = by_summing(weights, one.shift, factor, 1e-50);
    const auto m = static_cast<std::int64_t>(std::ceil((static_cast<double>(one.shift) - one.epsilon * one.scale) / 2)) - 1;
    ASSERT_LT(size_of(closed_form(a, one.shift, factor, m) - sum), 1e-40) << one.scale << " " << one.shift << " " << one.epsilon;
    const std::string plan = "discrete_laplace(scale=" + number(one.scale) + ", sensitivity=" + std::to_string(one.shift) + ")";
    const Interval found = analyze(parse(plan)).delta_at(one.epsilon);
    ASSERT_THAT(found, Encloses(sum.get())) << plan << " " << one.epsilon;
    ASSERT_LE(found.width(), 1e-13);
  }
}

TEST(GridProfile, OfTruncatedDiscreteLaplaceNoiseHoldsItsSum) {
  std::mt19937_64 random(8);
  for (int i = 0; i < scaled(1000); ++i) {
    const Case one = random_case(random);
    const Ball a = exp(Ball(-1) / Ball(one.scale)), factor = exp(Ball(one.epsilon));
    std::vector<Ball> weights{Ball(1)};
    for (std::int64_t k = 0; k < one.bound; ++k) weights.push_back(weights.back() * a);
    const Ball sum = by_summing(weights, one.shift, factor, 0);
    const std::string plan = "truncated_discrete_laplace(scale=" + number(one.scale) + ", bound=" + std::to_string(one.bound) +
                             ", sensitivity=" + std::to_string(one.shift) + ")";
    const Interval found = analyze(parse(plan)).delta_at(one.epsilon);
    ASSERT_THAT(found, Encloses(sum.get())) << plan << " " << one.epsilon;
    ASSERT_LE(found.width(), 1e-13);
  }
}

TEST(GridProfile, OfDiscreteGaussianNoiseHoldsItsSum) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 200; ++i) {
    const Case one = random_case(random);
    const Ball factor = exp(Ball(one.epsilon)), twice = Ball(2) * Ball(one.scale) * Ball(one.scale);
    std::vector<Ball> weights;
    for (int k = 0; k < 17 * one.scale + 1; ++k) weights.push_back(exp(Ball(-k * k) / twice));
    const Ball sum = by_summing(weights, one.shift, factor, 1e-50);
    const std::string plan = "discrete_gaussian(sigma=" + number(one.scale) + ", sensitivity=" + std::to_string(one.shift) + ")";
    ASSERT_THAT(analyze(parse(plan)).delta_at(one.epsilon), Encloses(sum.get())) << plan << " " << one.epsilon;
  }
}

/// Rounding the real noise to the grid costs no privacy: the profile of the rounded distribution, summed, is at most that of the real one.
TEST(GridProfile, OfRoundedNoiseIsNoWorseThanThatOfRealNoise) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 200; ++i) {
    const Case one = random_case(random);
    const Ball factor = exp(Ball(one.epsilon)), half = exp(Ball(-0.5) / Ball(one.scale)), a = exp(Ball(-1) / Ball(one.scale));
    std::vector<Ball> weights{Ball(2) * (Ball(1) - half)}, tails{half};  // twice P(K = k), P(|K| > k)
    while (static_cast<double>(weights.size()) < 130 * one.scale) {
      weights.push_back(tails.back() * (Ball(1) - a));
      tails.push_back(tails.back() * a);
    }
    const Ball sum = by_summing(weights, one.shift, factor, 1e-50);
    const std::string plan = "laplace(scale=" + number(one.scale) + ", sensitivity=" + std::to_string(one.shift) + ")";
    const Interval real = analyze(parse(plan)).delta_at(one.epsilon);
    ASSERT_LE(arf_get_d(arb_midref(sum.get()), ARF_RND_NEAR), real.hi + 1e-15) << plan;
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
