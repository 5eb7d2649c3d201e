// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <tuple>
#include <vector>

#include "engine/compose.h"
#include "numeric/arithmetic.h"
#include "operators/allocation.h"
#include "operators/allocation/epoch_density.h"
#include "operators/allocation/epoch_law.h"
#include "operators/allocation/interpolation.h"
#include "operators/allocation/log_mean_law.h"
#include "operators/allocation/mean_tails.h"
#include "operators/allocation/price.h"
#include "operators/allocation/replaced_law.h"

// [allocation-tails] [allocation-doubling] [allocation-replaced-law] [allocation-profile] [allocation-epochs] [truncated-contour]
namespace tradeoff::detail {
namespace {

using allocation::EpochDensity;
using allocation::EpochLaw;
using allocation::LogMeanLaw;
using allocation::MeanTails;
using allocation::taps;

Interval at(double x) { return Interval::exactly(x); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }
double upper_tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }
double log_of(double y, double s) { return std::log(y) / s + s / 2; }  // the normal variable of a lognormal one

/// P(Y_1 + Y_2 <= 2 e^x), and E(mean; mean > e^x), by quadrature over Y_1.
struct TwoSteps {
  double below = 0, mean_above = 0;
};
TwoSteps two_steps(double s, double x) {
  TwoSteps sum;
  const double step = 1e-3, k = 2 * std::exp(x);
  for (double z = -14; z < 14; z += step) {
    const double y = std::exp(s * z - s * s / 2), weight = step * normal_density(z);
    if (y < k) sum.below += weight * upper_tail(-log_of(k - y, s));
    const double beyond = y < k ? upper_tail(log_of(k - y, s)) : 1, mean = y < k ? upper_tail(log_of(k - y, s) - s) : 1;
    sum.mean_above += weight * 0.5 * (y * beyond + mean);
  }
  return sum;
}

TEST(AllocationTails, BoundTwoSteps) {
  for (const double s : {0.05, 0.5, 2.0, 3.5}) {
    const MeanTails tails(s);
    for (const double share : {-4.0, -2.0, -1.0, 0.5, 1.0, 2.0, 4.0}) {
      const double x = share * s / std::sqrt(2.0);
      const TwoSteps truth = two_steps(s, x);
      EXPECT_GE(tails.log_below(2, x), std::log(truth.below) - 1e-6) << s << ' ' << x;
      EXPECT_GE(tails.log_mean_above(2, x), std::log(truth.mean_above) - 1e-6) << s << ' ' << x;
      if (share < -3) {
        EXPECT_LE(tails.log_below(2, x), 0.6 * std::log(truth.below)) << s << ' ' << x;
      }
    }
  }
}

// Many steps, and a mean that one large ratio reaches: the mean is then mostly that of the others. Its probability is at least that of one
// ratio beyond a, with the others not far below their mean by Chebyshev's inequality, less that of two such ratios.
TEST(AllocationTails, CountTheOthersBesideALargeRatio) {
  const double n = 1e7, mean = 1.05;
  for (const double s : {1.5, 2.0}) {
    double least = 0;
    for (double below = 0.001; below < 0.5; below *= 1.1) {
      const double a = n * mean - (n - 1) * (1 - below), z = (std::log(a) + s * s / 2) / s;
      const double one = n * std::erfc(z / std::numbers::sqrt2) / 2, others = 1 - std::expm1(s * s) / ((n - 1) * below * below);
      least = std::max(least, mean * (one * others - one * one / 2));
    }
    const double bound = MeanTails(s).log_mean_above(n, std::log(mean));
    EXPECT_GE(bound, std::log(least)) << s;
    EXPECT_LE(bound, std::log(least) + 4) << s;
  }
}

// The constants of the interpolation, for Gaussians of deviation 1 and slopes x.
TEST(AllocationDoubling, InterpolatesGaussiansWithinItsBounds) {
  for (const double h : {0.1, 0.05})
    for (double part = 0; part <= 1; part += 0.05) {
      const auto weights = allocation::interpolation_weights({part, 0});
      double plain = 0;
      for (const double weight : weights) plain += std::abs(weight);
      EXPECT_LE(plain, allocation::weight_sum);
      for (double x = -12; x <= 12; x += 0.5) {
        double moduli = 0;
        long double sum = 0;
        for (std::size_t t = 0; t < taps; ++t) {
          const double u = h * (static_cast<double>(t) - static_cast<double>(allocation::taps_before) - part);
          moduli += std::abs(weights[t]) * std::exp(x * u - u * u / 2);
          sum += static_cast<long double>(weights[t]) * std::exp(static_cast<long double>(x * u - u * u / 2));
        }
        EXPECT_LE(moduli, plain * std::cosh(8 * h * x) * (1 + 1e-12)) << h << ' ' << part << ' ' << x;
        const double bound = allocation::rest_factor * std::pow(h, 16) * std::cosh(allocation::rest_reach * x);
        EXPECT_LE(std::abs(static_cast<double>(sum - 1)), bound + 1e-15 * moduli) << h << ' ' << part << ' ' << x;
      }
    }
}

/// The density of log((Y_1 + Y_2)/2) by the midpoint rule over log Y_1 - log Y_2, which is smooth and decays.
double density_of_two(double s, double l) {
  double sum = 0;
  const double step = 0.01 * s;
  for (double r = -40 * s; r < 40 * s; r += step) {
    const double x = l - std::log((1 + std::exp(-r)) / 2), y = x - r;
    sum += step * normal_density(x / s + s / 2) * normal_density(y / s + s / 2) / (s * s);
  }
  return sum;
}

TEST(AllocationDoubling, HoldsTwoSteps) {
  for (const double s : {0.05, 1.0, 3.3}) {
    const MeanTails tails(s);
    const LogMeanLaw law = log_mean_law(s, 2, tails, {tails.left_end(2, -40), tails.right_end(2, -40), 0.1 * s / std::sqrt(2.0)});
    ASSERT_GT(law.size(), 50u);
    for (std::size_t i = 0; i < law.size(); i += 7) {
      const double truth = density_of_two(s, law.place(i)), error = law.error[i / LogMeanLaw::block] * truth + std::exp(law.log_floor);
      EXPECT_NEAR(std::exp(law.log_density(i)), truth, error + 2e-13 * truth) << s << ' ' << law.place(i);
      EXPECT_LT(error, 0.01 * truth) << s << ' ' << law.place(i);
    }
  }
}

// Whatever the number of steps, both distributions have mass 1, and so has the law on an event with what lies outside of it.
TEST(AllocationEpochs, LawsHaveMassOne) {
  for (const double sigma : {0.3, 1.0, 20.0})
    for (const std::uint64_t steps : {2u, 3u, 37u, 1000u}) {
      const auto density = std::make_shared<const EpochDensity>(at(1 / sigma), steps, -30);
      ASSERT_TRUE(density->known()) << sigma << ' ' << steps;
      for (const Interval ends : {Interval::whole(), Interval{-infinity, 0.5 * density->last_end()}}) {
        const EpochLaw law(density, ends);
        const auto event = law.event(), above = law.outside(false), below = law.outside(true);
        const Interval q = event.q + above.q + below.q, p = event.p + above.p + below.p;
        EXPECT_TRUE(q.lo <= 1 && 1 <= q.hi && p.lo <= 1 && 1 <= p.hi) << sigma << ' ' << steps;
        EXPECT_LT(q.width() + p.width(), 1e-7) << sigma << ' ' << steps;
        EXPECT_LT(law.unit_error(), 1e-7) << sigma << ' ' << steps;
        const Interval ratio = log(event.p) - log(event.q);
        EXPECT_TRUE(law.log_ratio().lo <= ratio.hi && ratio.lo <= law.log_ratio().hi);
        double weight = 0, mean = 0;
        for (std::size_t i = 0; i < law.nodes().loss.size(); ++i)
          weight += law.nodes().weight[i], mean += law.nodes().weight[i] * std::exp(law.nodes().loss[i]);
        EXPECT_NEAR(weight, 1, law.unit_error() + 1e-7);
        EXPECT_NEAR(mean, 1, law.unit_error() + 1e-7);
      }
    }
}

// Against options on the sum, which share nothing with the law of the mean.
TEST(AllocationProfile, AgreesWithOptions) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 30; ++i) {
    const double sigma = 0.3 * std::pow(60, uniform(random)), count = std::floor(2 * std::pow(500, uniform(random)));
    const auto loss = allocation_loss(at(1 / sigma), static_cast<std::uint64_t>(count));
    const double epsilon = uniform(random) * 3 / (sigma * std::sqrt(count)), strike = count * std::exp(epsilon);
    const Interval found = loss->delta(Direction::remove, at(epsilon));
    const Interval call = allocation::lognormal_options(at(1 / sigma), count, allocation::Option::call, {&strike, 1}, 1e-4).front();
    EXPECT_LE(found.lo, call.hi * (1 + 1e-12)) << sigma << ' ' << count << ' ' << epsilon;
    EXPECT_GE(found.hi, call.lo * (1 - 1e-12)) << sigma << ' ' << count << ' ' << epsilon;
    EXPECT_LE(found.width(), 1e-7 * found.hi) << sigma << ' ' << count << ' ' << epsilon;
  }
}

// A test that the loss exceeds epsilon: its error rates are minus the slope of the profile, and delta follows from them.
TEST(AllocationProfile, ErrorRatesAgreeWithDelta) {
  const auto loss = allocation_loss(at(1), 12);
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double epsilon : {0.0, 0.3, 1.0}) {
      const auto test = loss->test_at(direction, epsilon);
      ASSERT_TRUE(test.has_value());
      const Interval delta = loss->delta(direction, at(epsilon)), same = test->true_positive - exp(at(epsilon)) * test->false_positive;
      EXPECT_LE(delta.lo, same.hi);
      EXPECT_GE(delta.hi, same.lo);
      EXPECT_LE(same.width(), 1e-9);
    }
}

// By the Mellin transform of the likelihood ratio and its inversion in ball arithmetic: fourteen digits.
TEST(AllocationEpochs, HoldInversionsOfMellinTransforms) {
  struct Case {
    double sigma;
    std::uint64_t steps, epochs;
    double epsilon;
    Direction direction;
    double value;
  };
  for (const Case& one : {Case{0.731, 2, 100, 75.1384, Direction::remove, 0.099299542356023},
                          {0.809, 2, 5, 18.0801, Direction::remove, 3.1896687350930e-11},
                          {1.95, 41, 30, 1.35446, Direction::add, 0.00048698351166606},
                          {0.762, 21, 100, 19.9855, Direction::remove, 0.0044000770583550}}) {
    const LossPointer epochs = compose({{allocation_loss(1.0 / at(one.sigma), one.steps), one.epochs}}, {1e-6}).loss;
    const Interval delta = epochs->delta(one.direction, at(one.epsilon));
    EXPECT_LE(delta.lo, one.value * (1 + 1e-13)) << one.sigma;
    EXPECT_GE(delta.hi, one.value * (1 - 1e-13)) << one.sigma;
    EXPECT_LE(delta.width(), 1e-8 * delta.hi) << one.sigma;
    const auto epsilon = epochs->closed_epsilon(one.direction, delta);
    ASSERT_TRUE(epsilon.has_value());
    EXPECT_LE(epsilon->lo, one.epsilon);
    EXPECT_GE(epsilon->hi, one.epsilon);
    EXPECT_LE(epsilon->width(), 1e-7 * epsilon->hi);
  }
}

// Beside a Gaussian release, and with two kinds of epochs; negative epsilon is the mirror of the other direction.
TEST(AllocationEpochs, ComposeWithOtherParts) {
  const auto allocated = allocation_loss(at(1), 10), other = allocation_loss(at(0.5), 3);
  const LossPointer both = compose({{allocated, 2}, {other, 1}}, {1e-6}).loss;
  const LossPointer more = compose({{allocated, 2}, {other, 1}, {allocation_loss(at(0.3), 1), 1}}, {1e-6}).loss;
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Interval two = both->delta(direction, at(0.5)), three = more->delta(direction, at(0.5));
    EXPECT_LE(two.width(), 1e-7 * two.hi);
    EXPECT_LE(three.width(), 1e-7 * three.hi);
    EXPECT_LT(two.hi, three.lo);
    EXPECT_LT(compose({{allocated, 2}}, {1e-6}).loss->delta(direction, at(0.5)).hi, two.lo);
    const Interval mirrored = both->delta(direction, at(-0.5)), positive = both->delta(opposite(direction), at(0.5));
    EXPECT_NEAR(middle_of(mirrored), 1 - std::exp(-0.5) + std::exp(-0.5) * middle_of(positive), 1e-8);
  }
}

// With two steps the loss is Gaussian, far into its tail.
TEST(AllocationReplacedLaw, IsGaussianForTwoSteps) {
  for (const double s : {0.05, 0.4, 1.0, 2.0, 3.3}) {
    allocation::ReplacedLaw law(s, 2);
    law.reach(120);
    ASSERT_GE(law.value().size(), 120u) << s;
    for (std::size_t i = 0; i < law.value().size(); ++i) {
      const double l = law.step() * static_cast<double>(i),
                   truth = std::exp(-l * l / (4 * s * s) - s * s / 4) / (std::sqrt(4 * std::acos(-1.0)) * s);
      EXPECT_NEAR(law.value()[i], truth, law.error()[i] + 1e-14 * truth) << s << ' ' << l;
      EXPECT_LT(law.error()[i], 1e-6 * truth) << s << ' ' << l;
    }
    EXPECT_LT(law.error()[0], 1e-9 * law.value()[0]) << s;
  }
}

/// The same for three steps x_t = m + y_t: the loss is 2 s m + log(U/V), U and V the means of exp(+-s y_t), and m is Gaussian and
/// independent.
double replaced_density_of_three(double s, double l) {
  const double h = 0.125, deviation = 2 * s / std::sqrt(3.0);
  double sum = 0;
  for (double a = -14; a <= 14; a += h)
    for (double b = -14; b <= 14; b += h) {
      double u = 0, v = 0;
      for (const double y : {a / std::sqrt(2.0) + b / std::sqrt(6.0), -a / std::sqrt(2.0) + b / std::sqrt(6.0), -2 * b / std::sqrt(6.0)})
        u += std::exp(s * y) / 3, v += std::exp(-s * y) / 3;
      sum += normal_density(a) * normal_density(b) * std::sqrt(u * v) * normal_density((l - std::log(u / v)) / deviation) / deviation;
    }
  return sum * h * h * std::exp(-s * s / 2);
}

TEST(AllocationReplacedLaw, HoldsThreeSteps) {
  for (const double s : {0.1, 1.0, 1.8}) {
    allocation::ReplacedLaw law(s, 3);
    law.reach(72);
    ASSERT_GE(law.value().size(), 72u) << s;
    for (std::size_t i = 0; i < law.value().size(); i += 9) {
      const double truth = replaced_density_of_three(s, law.step() * static_cast<double>(i));
      EXPECT_NEAR(law.value()[i], truth, law.error()[i] + 1e-11 * truth) << s << ' ' << i;
    }
  }
}

// Both distributions have mass 1, for few and many steps, little and much noise.
TEST(AllocationReplacedLaw, HasMassOne) {
  for (const auto& [sigma, steps] : {std::pair{0.5, 20u}, {1.0, 1000u}, {3.0, 10u}, {20.0, 100'000u}}) {
    allocation::ReplacedLaw places(1 / sigma, steps);
    const auto density = std::make_shared<const EpochDensity>(at(1 / sigma), steps, std::log(1e-18), places);
    ASSERT_TRUE(density->known()) << sigma << ' ' << steps;
    const EpochLaw law(density, Interval::whole());
    const auto event = law.event(), above = law.outside(false), below = law.outside(true);
    const Interval q = event.q + above.q + below.q, p = event.p + above.p + below.p;
    EXPECT_TRUE(q.lo <= 1 && 1 <= q.hi && p.lo <= 1 && 1 <= p.hi) << sigma << ' ' << steps;
    EXPECT_LT(q.width() + p.width(), 1e-9) << sigma << ' ' << steps;
  }
}

// Against options on the difference of likelihoods, which share nothing with the density.
TEST(AllocationReplacedLaw, AgreesWithOptions) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 8; ++i) {
    const double s = 1 / (0.8 * std::pow(20, uniform(random))), count = std::floor(3 * std::pow(100, uniform(random)));
    const double epsilon = uniform(random) * 4 * s / std::sqrt(count);
    const Interval found = allocation_replace_loss(at(s), static_cast<std::uint64_t>(count))->delta(Direction::remove, at(epsilon));
    const Interval option = allocation::expected_excess(at(s), count, exp(at(epsilon)), 1e-4);
    EXPECT_LE(found.lo, option.hi) << s << ' ' << count << ' ' << epsilon;
    EXPECT_GE(found.hi, option.lo) << s << ' ' << count << ' ' << epsilon;
    EXPECT_LE(found.width(), 1e-6 * found.hi) << s << ' ' << count << ' ' << epsilon;
  }
}

// Far places are interpolated over ranges; single values have another kernel and are not.
TEST(AllocationReplacedLaw, GivesTheProfile) {
  for (const auto& [sigma, steps, farthest] : {std::tuple{0.379, 19'027u, 9.0}, {0.416, 40'000u, 8.0}, {0.6, 4000u, 4.0}}) {
    allocation::ReplacedLaw places(1 / sigma, steps);
    const EpochDensity law(at(1 / sigma), steps, std::log(1e-18), places);
    ASSERT_TRUE(law.known()) << sigma << ' ' << steps;
    for (double epsilon = 0.05; epsilon < farthest; epsilon *= 1.37) {
      const Interval found = law.delta(Direction::remove, epsilon), one = allocation::replaced_epoch_delta(at(1 / sigma), steps, epsilon);
      EXPECT_TRUE(found.lo <= one.hi && one.lo <= found.hi) << sigma << ' ' << steps << ' ' << epsilon;
      EXPECT_LT(found.width(), 2e-8 * found.hi) << sigma << ' ' << steps << ' ' << epsilon;
    }
  }
}

// Two epochs of three steps: the second loss averaged over the first by the rectangle rule, which is exact for smooth densities.
TEST(AllocationReplacedLaw, ComposesEpochs) {
  const double s = 0.8, step = 0.125;
  const LossPointer one = allocation_replace_loss(at(s), 3), two = compose({{one, 2}}, {1e-6}).loss;
  std::vector<double> density;  // of a loss of P
  for (double l = -4; l <= 8; l += step) density.push_back(std::exp(l / 2) * replaced_density_of_three(s, l));
  for (const double epsilon : {0.5, 2.0}) {
    double truth = 0;
    for (std::size_t i = 0; i < density.size(); ++i)
      truth += step * density[i] * middle_of(one->delta(Direction::remove, at(epsilon + 4 - step * static_cast<double>(i))));
    const Interval found = two->delta(Direction::remove, at(epsilon));
    EXPECT_NEAR(middle_of(found), truth, found.width() + 1e-9 * truth + 1e-11) << epsilon;
    EXPECT_LE(found.width(), 1e-6 * found.hi) << epsilon;
  }
}

}  // namespace
}  // namespace tradeoff::detail
