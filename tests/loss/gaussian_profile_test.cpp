// SPDX-License-Identifier: Apache-2.0
// Laws and edge cases of the Gaussian profile. [gaussian-profile] [gaussian-part]
#include "loss/gaussian_profile.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "numeric/normal.h"
#include "support/doubles.h"
#include "support/matchers.h"

namespace tradeoff::detail::test {
namespace {

using ::testing::AllOf;

const std::vector<double> edges = {0.0,     test::least_double,
                                   1e-310,  1e-300,
                                   1e-160,  1e-20,
                                   1e-8,    0.124,
                                   0.5,     1,
                                   2,       15.9,
                                   16,      16.1,
                                   50,      1e3,
                                   1e6,     1e13,
                                   1e20,    1e80,
                                   1e154,   1e160,
                                   1e300,   test::largest_double,
                                   infinity};

bool is_probability(Interval x) { return x.lo <= x.hi && x.lo >= 0 && x.hi <= 1; }  // false for NaN
bool is_ordered(Interval x) { return x.lo <= x.hi; }

TEST(Gaussian, IsAnIntervalEverywhere) {
  for (const double mu : edges) {
    for (const double size : edges) {
      for (const double epsilon : {size, -size, mu * mu / 2, mu * mu / 2 * (1 + 1e-15)}) {
        const Interval m = Interval::exactly(mu);
        const Interval e = Interval::exactly(epsilon);
        EXPECT_TRUE(is_probability(gaussian_delta(m, e))) << mu << " " << epsilon;
        EXPECT_TRUE(is_probability(gaussian_complement(m, e))) << mu << " " << epsilon;
        EXPECT_TRUE(is_ordered(log_gaussian_delta(m, e)) && log_gaussian_delta(m, e).hi <= 0) << mu << " " << epsilon;
        EXPECT_TRUE(is_ordered(log_gaussian_complement(m, e)) && log_gaussian_complement(m, e).hi <= 0) << mu << " " << epsilon;
        EXPECT_TRUE(is_ordered(gaussian_epsilon(m, e)) && gaussian_epsilon(m, e).lo >= 0) << mu << " " << epsilon;
        EXPECT_TRUE(is_ordered(gaussian_epsilon_of_log(m, e))) << mu << " " << epsilon;
        EXPECT_TRUE(is_ordered(gaussian_mu(e, m)) && gaussian_mu(e, m).lo >= 0) << epsilon << " " << mu;
        EXPECT_TRUE(is_ordered(gaussian_mu_of_log(e, -m))) << epsilon << " " << mu;
        EXPECT_TRUE(is_ordered(gaussian_mu_of_complement(e, m))) << epsilon << " " << mu;
        EXPECT_TRUE(is_probability(gaussian_beta(m, e))) << mu << " " << epsilon;
        EXPECT_TRUE(is_probability(gaussian_power(m, e))) << mu << " " << epsilon;
        EXPECT_TRUE(is_ordered(gaussian_mu_of_test(m, e))) << mu << " " << epsilon;
      }
    }
  }
}

TEST(Gaussian, LimitsAreExact) {
  const Interval zero = Interval::exactly(0);
  EXPECT_EQ(gaussian_delta(0, 0), zero);
  EXPECT_EQ(gaussian_delta(0, 3), zero);
  EXPECT_THAT(gaussian_delta(0, -std::log(2)), Encloses(0.5));
  EXPECT_EQ(gaussian_delta(2, infinity), zero);
  EXPECT_EQ(gaussian_delta(2, -infinity), Interval::exactly(1));
  EXPECT_EQ(gaussian_delta(infinity, 5), Interval::exactly(1));
  EXPECT_EQ(gaussian_complement(infinity, 5), zero);
  EXPECT_EQ(gaussian_mu(1, 0), zero);
  EXPECT_EQ(gaussian_mu(1, 1), Interval::exactly(infinity));
  EXPECT_EQ(gaussian_epsilon(0, 0), zero);
  EXPECT_EQ(gaussian_epsilon(1, 0), Interval::exactly(infinity));
  EXPECT_EQ(gaussian_epsilon(1, 0.9), zero);
  EXPECT_EQ(gaussian_beta(1, 0), Interval::exactly(1));
  EXPECT_EQ(gaussian_beta(1, 1), zero);
  EXPECT_THAT(gaussian_beta(0, 0.25), AllOf(Encloses(0.75), IsTight(1e-14)));
}

TEST(Gaussian, HugeMuNextToItsStepIsStillEnclosed) {
  // At epsilon = mu^2/2 exactly, y = 0 and delta is 1/2 - phi(0) Mills(mu).
  for (const double mu : {0x1p60, 0x1p100, 0x1p400}) EXPECT_THAT(gaussian_delta(mu, mu * (mu / 2)), AllOf(Encloses(0.5), IsTight(1e-12)));
}

TEST(Gaussian, MirrorsAtNegativeEpsilon) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const double mu = std::pow(10, std::uniform_real_distribution<>(-4, 1)(random));
    const double epsilon = std::pow(10, std::uniform_real_distribution<>(-4, 1)(random));
    const Interval complement = exp(Interval::exactly(-epsilon)) * gaussian_complement(mu, epsilon);
    EXPECT_THAT(gaussian_complement(mu, -epsilon), Encloses(complement));
    EXPECT_THAT(gaussian_delta(mu, -epsilon), Encloses(1 - complement));
    const Interval delta = gaussian_delta(mu, -epsilon);
    EXPECT_THAT(gaussian_mu(Interval::exactly(-epsilon), delta), Encloses(mu));
  }
}

TEST(Gaussian, IsMonotone) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    const double mu = std::pow(10, std::uniform_real_distribution<>(-2, 1.5)(random));
    const double epsilon = std::uniform_real_distribution<>(-3, 30)(random);
    const double more = mu * (1 + 1e-10);
    EXPECT_LE(gaussian_delta(mu, epsilon).lo, gaussian_delta(more, epsilon).hi);
    EXPECT_GE(gaussian_delta(mu, epsilon).hi, gaussian_delta(mu, epsilon + 1e-10).lo);
    const Interval box = gaussian_delta(Interval{mu, more}, Interval{epsilon, epsilon + 1e-3});
    EXPECT_THAT(box, Encloses(gaussian_delta(mu, epsilon + 5e-4)));
    EXPECT_LE(box.lo, gaussian_delta(mu, epsilon + 1e-3).hi);
    EXPECT_GE(box.hi, gaussian_delta(more, epsilon).lo);
  }
}

// A tangent bounds short intervals of epsilon, both ends bound long ones: both are valid, and both are tight.
TEST(Gaussian, HoldsOverAnIntervalOfEpsilon) {
  for (const double mu : {0.01, 0.5, 1.0, 4.0, 30.0})
    for (const double epsilon : {0.0, 1e-3, 0.7, 5.0, 40.0})
      for (const double way : {1e-16, 1e-12, 1e-6, 1.0}) {
        const Interval at{epsilon, std::max(epsilon + way, std::nextafter(epsilon, 1e9))};
        const Interval range = gaussian_delta(Interval::exactly(mu), at), far = gaussian_delta(mu, at.hi),
                       near = gaussian_delta(mu, epsilon);
        EXPECT_LE(range.lo, far.hi) << mu << ' ' << epsilon << ' ' << way;
        EXPECT_GE(range.lo, far.lo - 1e-9 * near.hi) << mu << ' ' << epsilon << ' ' << way;
        EXPECT_EQ(range.hi, near.hi) << mu << ' ' << epsilon << ' ' << way;
      }
}

TEST(Gaussian, BatchEqualsOneAtATime) {
  std::vector<double> epsilon;
  for (double e = -5; e < 60; e += 0.37) epsilon.push_back(e);
  epsilon.insert(epsilon.end(), {infinity, -infinity, 0.0, 1e300});
  std::vector<Interval> out(epsilon.size());
  for (const double mu : {0.0, 1e-300, 0.01, 1.0, 7.0, 50.0, 1e30, infinity}) {
    gaussian_delta(mu, epsilon, out);
    for (std::size_t i = 0; i < epsilon.size(); ++i) EXPECT_EQ(out[i], gaussian_delta(mu, epsilon[i])) << mu << " " << epsilon[i];
  }
}

TEST(Gaussian, TestsAndProfileAgree) {
  // The profile is the largest power minus exp(epsilon) alpha: every test lies below it, and the optimal one attains it.
  for (const double mu : {0.1, 1.0, 3.0}) {
    for (const double epsilon : {0.0, 0.5, 2.0}) {
      const double threshold = epsilon / mu + mu / 2;
      const Interval alpha = normal_cdf(-threshold);
      const Interval attained = gaussian_power(Interval::exactly(mu), alpha) - exp(Interval::exactly(epsilon)) * alpha;
      EXPECT_THAT(gaussian_delta(mu, epsilon), Encloses(attained));
      EXPECT_THAT(gaussian_mu_of_test(alpha, gaussian_beta(Interval::exactly(mu), alpha)), Encloses(mu));
      EXPECT_THAT(gaussian_beta(Interval::exactly(mu), gaussian_beta(Interval::exactly(mu), alpha)), Encloses(alpha));
    }
  }
}

// [gaussian-part] Minus the second difference of log delta is the mean bend around a point.
TEST(Gaussian, BendsByAtLeastTheBound) {
  for (const double mu : {0.01, 0.3, 1.0, 4.0, 20.0}) {
    double before = 0;
    for (const double place : {0.0, 0.1, 1.0, 3.0, 10.0, 100.0, 1e4}) {
      const double epsilon = place * mu + mu * mu / 2, step = 0.02 * mu;
      const auto at = [mu](double e) { return log_gaussian_delta(mu, e).lo; };
      const double bend = (2 * at(epsilon + step) - at(epsilon) - at(epsilon + 2 * step)) / (step * step);
      const double rounding = 1e-11 * std::abs(at(epsilon)) / (step * step);
      const double below = gaussian_bend_below(mu, epsilon);
      EXPECT_LE(below, bend + rounding) << mu << " " << epsilon;
      EXPECT_LE(below, 1 / (mu * mu));
      EXPECT_GE(below, before) << mu << " " << epsilon;
      if (place > 0 && place <= 10) {
        EXPECT_GE(below, 0.9 * bend - rounding) << mu << " " << epsilon;
      }
      before = below;
    }
  }
  for (const double mu : edges)
    for (const double epsilon : edges)
      if (epsilon < infinity) {
        EXPECT_GE(gaussian_bend_below(mu, epsilon), 0) << mu << " " << epsilon;
      }
}

TEST(Gaussian, MuOfTheComplementIsThatOfDelta) {
  for (const double mu : {1.0, 8.0, 60.0})
    for (const double epsilon : {0.0, 0.25 * mu, 0.6 * mu * mu}) {
      const Interval found = gaussian_mu_of_log_complement(Interval::exactly(epsilon),
                                                           log_gaussian_complement(Interval::exactly(mu), Interval::exactly(epsilon)));
      EXPECT_LE(found.lo, mu);
      EXPECT_GE(found.hi, mu);
      EXPECT_LE(found.width(), 1e-11 * mu) << mu << " " << epsilon;
    }
}

TEST(Normal, LimitsAndLaws) {
  EXPECT_THAT(normal_cdf(0), AllOf(Encloses(0.5), IsTight(1e-14)));
  EXPECT_THAT(normal_cdf(-infinity), Encloses(0));
  EXPECT_THAT(normal_cdf(infinity), Encloses(1));
  EXPECT_EQ(normal_quantile(0), Interval::exactly(-infinity));
  EXPECT_EQ(normal_quantile(1), Interval::exactly(infinity));
  EXPECT_EQ(normal_quantile(0.5), Interval::exactly(0));
  for (const double x :
       {-1e308, -1e200, -1e155, -40.0, -38.7, -38.0, -1.0, -0.0, 1e-310, 15.999999, 16.0, 38.0, 40.0, 1e200, infinity, -infinity}) {
    for (const Interval f : {normal_cdf(x), log_normal_cdf(x), normal_density(x), mills_ratio(x)}) EXPECT_TRUE(f.lo <= f.hi) << x;
    EXPECT_THAT(normal_cdf(x) + normal_cdf(-x), Encloses(1));
    EXPECT_THAT(exp(log_normal_cdf(x)), Encloses(normal_cdf(x)));
  }
  for (const double p : {test::least_double, 1e-310, 1e-300, 0.25, 0.75, std::nextafter(0.5, 1), std::nextafter(1, 0)})
    EXPECT_THAT(normal_quantile(p), IsTight(1e-13)) << p;
}

}  // namespace
}  // namespace tradeoff::detail::test
