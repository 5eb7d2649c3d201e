// SPDX-License-Identifier: Apache-2.0
#include "operators/gaussian_mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "engine/compose.h"
#include "loss/mirrored_delta.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// [gaussian-mixture-pair] [gaussian-comparison] [user-level-poisson] [poisson-replace-one]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

Interval at(double x) { return Interval::exactly(x); }
LossPointer mixture(double mu, double rate, std::uint64_t ahead, std::uint64_t behind) {
  return gaussian_mixture(at(mu), at(rate), ahead, behind, {});
}

void expect_golden(const nlohmann::json& one, const LossPointer& loss, Interval epsilon, Direction direction) {
  const auto composed =
      compose({{loss, one.at("inputs").at(one.at("inputs").contains("T") ? "T" : "steps").get<std::uint64_t>()}}, {}).loss;
  const Interval delta = composed->delta(direction, epsilon);
  EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
  EXPECT_THAT(delta, IsTight(1e-9)) << one.at("id");
}

TEST(GaussianMixture, HoldsGoldenUserLevelRuns) {
  for (const auto& one : golden_group("sampling_schemes.json", "user_poisson_delta")) {
    const auto& inputs = one.at("inputs");
    const auto loss = gaussian_mixture(1.0 / golden_interval(inputs.at("sigma")), golden_interval(inputs.at("rate")),
                                       inputs.at("examples").get<std::uint64_t>(), 0, {});
    expect_golden(one, loss, golden_interval(inputs.at("eps")), inputs.at("direction") == "add" ? Direction::add : Direction::remove);
  }
}

TEST(GaussianMixture, HoldsGoldenReplaceOneRuns) {
  for (const auto& [file, group, rate] :
       {std::tuple{"sampling_schemes.json", "poisson_replace_delta", "rate"}, std::tuple{"f_dp.json", "dpsgd_replace_pair", "q"}})
    for (const auto& one : golden_group(file, group)) {
      const auto& inputs = one.at("inputs");
      const auto loss = gaussian_mixture(1.0 / golden_interval(inputs.at("sigma")), golden_interval(inputs.at(rate)), 1, 1, {});
      EXPECT_TRUE(loss->symmetric());
      expect_golden(one, loss, golden_interval(inputs.at("eps")), Direction::remove);
      expect_golden(one, loss, golden_interval(inputs.at("eps")), Direction::add);
    }
}

/// sup over thresholds of P(x > z) - e^e Q(x > z), from a fine scan: slightly below the truth.
double scanned_delta(double mu, double rate, int ahead, int behind, double epsilon) {
  const auto beyond = [&](double z, int count, double sign) {
    double sum = 0;
    for (int k = 0; k <= count; ++k) {
      const double weight = std::exp(std::lgamma(count + 1.0) - std::lgamma(k + 1.0) - std::lgamma(count - k + 1.0)) * std::pow(rate, k) *
                            std::pow(1 - rate, count - k);
      sum += weight * 0.5 * std::erfc((z - sign * k * mu) / std::sqrt(2.0));
    }
    return sum;
  };
  double best = 0;
  for (double z = -30; z < 40; z += 1e-3) best = std::max(best, beyond(z, ahead, 1) - std::exp(epsilon) * beyond(z, behind, -1));
  return best;
}

TEST(GaussianMixture, IsTheBestThresholdTest) {
  for (const auto& [mu, rate, ahead, behind] : {std::tuple{1.0, 0.25, 3, 0}, std::tuple{0.5, 0.125, 2, 3}, std::tuple{1.5, 0.5, 1, 1}})
    for (const double epsilon : {-2.0, -0.5, -0.01, 0.0, 0.25, 1.0, 3.0}) {
      const auto loss = mixture(mu, rate, static_cast<std::uint64_t>(ahead), static_cast<std::uint64_t>(behind));
      const Interval remove = loss->delta(Direction::remove, at(epsilon));
      EXPECT_NEAR(middle_of(remove), scanned_delta(mu, rate, ahead, behind, epsilon), 2e-7) << mu << " " << epsilon;
      EXPECT_THAT(remove, IsTight(1e-11));
      // The add direction is the pair with its sides exchanged.
      const Interval add = loss->delta(Direction::add, at(epsilon));
      EXPECT_NEAR(middle_of(add), scanned_delta(mu, rate, behind, ahead, epsilon), 2e-7) << mu << " " << epsilon;
    }
}

/// delta(epsilon) of sum_S p_S N(sum of u in S) against sum_S p_S N(sum of v in S) in the plane, sigma 1, by a sum over a grid.
double delta_in_plane(const std::vector<std::array<double, 2>>& u, const std::vector<std::array<double, 2>>& v, double rate,
                      double epsilon) {
  const auto density = [rate](const std::vector<std::array<double, 2>>& shifts, double x, double y) {
    double sum = 0;
    for (std::size_t set = 0; set < (std::size_t{1} << shifts.size()); ++set) {
      double weight = 1, a = x, b = y;
      for (std::size_t i = 0; i < shifts.size(); ++i) {
        const bool drawn = (set >> i & 1) != 0;
        weight *= drawn ? rate : 1 - rate;
        a -= drawn ? shifts[i][0] : 0;
        b -= drawn ? shifts[i][1] : 0;
      }
      sum += weight * std::exp(-0.5 * (a * a + b * b)) / (2 * std::numbers::pi);
    }
    return sum;
  };
  constexpr double step = 0.1;
  double sum = 0;
  for (double x = -9; x < 9; x += step)
    for (double y = -9; y < 9; y += step) sum += step * step * std::max(0.0, density(u, x, y) - std::exp(epsilon) * density(v, x, y));
  return sum;
}

// No choice of contributions in the plane is worse than the pair, and equal ones attain it.
TEST(GaussianMixture, DominatesContributionsInThePlane) {
  constexpr double rate = 0.25;
  std::mt19937_64 draw(7);
  std::uniform_real_distribution<double> angle(0, 2 * std::numbers::pi), length(0, 1);
  const auto vector = [&] {
    const double turn = angle(draw), size = std::sqrt(length(draw));
    return std::array<double, 2>{size * std::cos(turn), size * std::sin(turn)};
  };
  for (const auto& [ahead, behind] : {std::pair{2, 0}, std::pair{2, 1}, std::pair{1, 1}}) {
    const auto loss = mixture(1, rate, static_cast<std::uint64_t>(ahead), static_cast<std::uint64_t>(behind));
    const std::vector<std::array<double, 2>> east(static_cast<std::size_t>(ahead), {1, 0}), west(static_cast<std::size_t>(behind), {-1, 0});
    for (const double epsilon : {-0.25, 0.0, 0.3, 1.0}) {
      const Interval remove = loss->delta(Direction::remove, at(epsilon)), add = loss->delta(Direction::add, at(epsilon));
      EXPECT_NEAR(delta_in_plane(east, west, rate, epsilon), middle_of(remove), 2e-4);
      EXPECT_NEAR(delta_in_plane(west, east, rate, epsilon), middle_of(add), 2e-4);
      for (int i = 0; i < 4; ++i) {
        std::vector<std::array<double, 2>> u, v;
        for (int k = 0; k < ahead; ++k) u.push_back(vector());
        for (int k = 0; k < behind; ++k) v.push_back(vector());
        EXPECT_LE(delta_in_plane(u, v, rate, epsilon), remove.hi + 2e-4) << epsilon;
        EXPECT_LE(delta_in_plane(v, u, rate, epsilon), add.hi + 2e-4) << epsilon;
      }
    }
  }
}

TEST(GaussianMixture, TestsMeetTheProfile) {
  const auto loss = mixture(1.25, 0.25, 3, 2);
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {-1.0, -0.25, 0.0, 0.125, 1.0, 4.0}) {
      const auto test = loss->test_at(direction, e);
      ASSERT_TRUE(test.has_value());
      const Interval delta = test->true_positive - exp(at(e)) * test->false_positive;
      EXPECT_TRUE(delta.lo <= loss->delta(direction, at(e)).hi && delta.hi >= loss->delta(direction, at(e)).lo) << e;
      EXPECT_LE(delta.width(), 1e-11);
    }
}

// One example is plain Poisson sampling, in both directions and in every representation.
TEST(GaussianMixture, OfOneExampleIsPoissonSampling) {
  const auto one = mixture(1.5, 0.25, 1, 0), plain = subsampled_gaussian(at(1.5), at(0.25));
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {-3.0, -0.28, -0.1, 0.0, 0.125, 0.28, 0.3, 2.0, 30.0}) {
      const Interval a = one->delta(direction, at(e)), b = plain->delta(direction, at(e));
      EXPECT_TRUE(a.lo <= b.hi && b.lo <= a.hi) << e;
      const Interval la = one->log_delta(direction, at(e)), lb = plain->log_delta(direction, at(e));
      EXPECT_TRUE(la.lo <= lb.hi && lb.lo <= la.hi) << e;
    }
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {0.5, 4.0, 15.0}) {
      const Interval a = compose({{one, 300}}, {}).loss->delta(direction, at(e)),
                     b = compose({{plain, 300}}, {}).loss->delta(direction, at(e));
      EXPECT_TRUE(a.lo <= b.hi && b.lo <= a.hi) << e;
    }
  EXPECT_EQ(one->tail().largest.remove.hi, infinity);
  EXPECT_THAT(one->tail().largest.add, Encloses(-std::log1p(-0.25)));
}

TEST(GaussianMixture, GrowsWithEveryParameter) {
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {-0.5, 0.0, 0.5, 2.0}) {
      const auto delta = [&](double mu, double rate, std::uint64_t ahead, std::uint64_t behind) {
        return mixture(mu, rate, ahead, behind)->delta(direction, at(e));
      };
      const Interval base = delta(1, 0.2, 3, 2);
      EXPECT_LE(base.lo, delta(1.1, 0.2, 3, 2).hi) << e;
      EXPECT_LE(base.lo, delta(1, 0.25, 3, 2).hi) << e;
      EXPECT_LE(base.lo, delta(1, 0.2, 4, 2).hi) << e;
      EXPECT_LE(base.lo, delta(1, 0.2, 3, 3).hi) << e;
    }
}

TEST(GaussianMixture, ObeysTheLawsOfProfiles) {
  for (const auto& [ahead, behind] : {std::pair{2, 0}, std::pair{1, 1}, std::pair{1, 3}}) {
    const auto loss = mixture(2, 0.125, static_cast<std::uint64_t>(ahead), static_cast<std::uint64_t>(behind));
    for (const Direction direction : {Direction::remove, Direction::add}) {
      EXPECT_EQ(loss->delta(direction, at(infinity)), at(0));
      EXPECT_EQ(loss->delta(direction, at(-infinity)), at(1));
      EXPECT_EQ(loss->infinite_mass(direction), at(0));
      for (const double e : {0.05, 0.26706, 1.0, 20.0, 300.0}) {
        const Interval other = loss->delta(direction == Direction::add ? Direction::remove : Direction::add, at(e));
        const Interval mirrored = mirrored_delta(-e, other), negative = loss->delta(direction, at(-e));
        EXPECT_TRUE(negative.lo <= mirrored.hi && mirrored.lo <= negative.hi) << e;
        const Interval here = loss->delta(direction, at(e)), logarithm = loss->log_delta(direction, at(e));
        EXPECT_TRUE(exp(logarithm).lo <= here.hi && exp(logarithm).hi >= here.lo) << e;
        EXPECT_LE(here.lo, 1 - 0.0);
        EXPECT_GE(logarithm.hi, logarithm.lo);
      }
      for (const double e : {1e10, 1e60, 1e120, 1e300}) {  // far outside
        const Interval far = loss->delta(direction, at(e)), near = loss->delta(direction, at(-e));
        EXPECT_TRUE(far.lo == 0 && far.hi <= 1e-300 && near.hi == 1 && near.lo > 0.99)
            << e << " " << far.lo << " " << far.hi << " " << near.lo << " " << near.hi;
        EXPECT_LE(loss->log_delta(direction, at(e)).lo, -700) << e;
      }
      const Interval wide = loss->delta(direction, {0.25, 0.5});
      EXPECT_THAT(wide, Encloses(loss->delta(direction, at(0.375))));
    }
  }
}

// The dominating Gaussian and the tail: delta lies below the profile of the sum of the largest shifts.
TEST(GaussianMixture, LiesBelowItsTail) {
  const auto loss = mixture(0.5, 0.25, 2, 1);
  const Tail tail = loss->tail();
  EXPECT_THAT(Interval::exactly(tail.gdp_mu), Encloses(1.5));
  EXPECT_THAT(tail.limit, Encloses(1.0));
  EXPECT_EQ(tail.largest.add.hi, infinity);
  const Interval at_3 = loss->log_delta(Direction::remove, at(60));
  EXPECT_NEAR(60 / std::sqrt(-2 * at_3.hi), 1.0, 0.06);
}

// A rate known only to two doubles gives a profile that holds at both of them.
TEST(GaussianMixture, HoldsForEveryParameterInTheInterval) {
  const Interval rate{0.1, std::nextafter(0.1, 1)}, mu{0.7, std::nextafter(0.7, 1)};
  const auto wide = gaussian_mixture(mu, rate, 3, 1, {});
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double q : {rate.lo, rate.hi})
      for (const double m : {mu.lo, mu.hi})
        for (const double e : {-0.2, 0.1, 3.0})
          EXPECT_THAT(wide->delta(direction, at(e)), Encloses(middle_of(mixture(m, q, 3, 1)->delta(direction, at(e))))) << q << m << e;
}

}  // namespace
}  // namespace tradeoff::detail
