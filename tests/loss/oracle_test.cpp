// SPDX-License-Identifier: Apache-2.0
// Every normal and Gaussian function against Arb at random arguments over wide scales. [normal-functions] [gaussian-profile]
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "loss/gaussian_profile.h"
#include "numeric/normal.h"
#include "support/ball.h"
#include "support/matchers.h"
#include "support/scale.h"

namespace tradeoff::detail::test {
namespace {

class Oracle : public ::testing::Test {
 protected:
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  double scale(double low, double high) { return std::pow(10, uniform(low, high)); }

  /// Arguments of the normal distribution: the whole line, mostly where the values are normal doubles.
  double argument() {
    switch (count_++ % 4) {
      case 0:
        return uniform(-40, 40);
      case 1:
        return uniform(-3, 3);
      case 2:
        return uniform(-1, 1) * scale(-20, 1);
      default:
        return uniform(-1, 1) * scale(-300, 10);
    }
  }
  double any_mu() {
    switch (count_++ % 24) {
      case 0:
        return scale(-300, 12);
      case 1:
      case 2:
        return scale(-12, 12);
      case 3:
      case 4:
      case 5:
      case 6:
        return uniform(0, 12);
      default:
        return scale(-3, 2);
    }
  }
  double any_epsilon(double mu) {
    switch (random_() % 3) {
      case 0:
        return std::abs(mu * (uniform(-20, 40) + mu / 2));
      case 1:
        return scale(-5, 4);
      default:
        return mu * mu / 2 + mu * uniform(-1, 1) * scale(-8, 0);
    }
  }

  /// The enclosure contains the value of Arb and is at most as wide as stated, except for subnormal values.
  template <class Compute>
  void check(Interval enclosure, double width, Compute compute, double a, double b = 0) {
    Ball truth;
    if (!precisely(truth, compute)) {
      ++skipped_;
      return;
    }
    ++checked_;
    const bool held = holds(enclosure, truth);
    EXPECT_TRUE(held) << "at " << a << ", " << b;
    if (!held) {
      EXPECT_THAT(enclosure, Encloses(truth.get()));
    }
    if (std::max(std::abs(enclosure.lo), std::abs(enclosure.hi)) > 1e-290 && enclosure.hi < 1e290) {
      EXPECT_THAT(enclosure, IsTight(width)) << "at " << a << ", " << b;
    }
  }

  void TearDown() override { EXPECT_LE(skipped_ * 20, checked_) << "the oracle gave up too often"; }

  std::mt19937_64 random_{20240611};
  std::size_t count_ = 0;
  std::size_t checked_ = 0;
  std::size_t skipped_ = 0;
};

TEST_F(Oracle, NormalFunctions) {
  for (int i = 0; i < scaled(8000); ++i) {
    const double x = argument();
    check(normal_cdf(x), 1e-14, [&] { return cdf(x); }, x);
    check(normal_density(x), 1e-14, [&] { return density(x); }, x);
    check(mills_ratio(x), 1e-14, [&] { return cdf(-Ball(x)) / density(x); }, x);
    check(log_normal_cdf(x), 1e-13, [&] { return log(cdf(x)); }, x);
  }
}

TEST_F(Oracle, Profile) {
  for (int i = 0; i < scaled(12000); ++i) {
    const double mu = any_mu();
    const double epsilon = any_epsilon(mu) * (i % 5 == 4 ? -1 : 1);
    check(gaussian_delta(mu, epsilon), 1e-13, [&] { return delta(mu, epsilon); }, mu, epsilon);
    check(gaussian_complement(mu, epsilon), 1e-13, [&] { return complement(mu, epsilon); }, mu, epsilon);
    check(log_gaussian_delta(mu, epsilon), 1e-12, [&] { return log_delta(mu, epsilon); }, mu, epsilon);
    check(
        log_gaussian_complement(Interval::exactly(mu), Interval::exactly(epsilon)), 1e-12, [&] { return log_complement(mu, epsilon); }, mu,
        epsilon);
  }
}

TEST_F(Oracle, ProfileAtTheEndsOfTheRange) {
  for (int i = 0; i < 400; ++i) {
    // Subnormal mu: the remainder of the division must not underflow.
    const double mu = scale(-320, -300);
    const double epsilon = mu * uniform(0, 36);
    check(log_gaussian_delta(mu, epsilon), 1e-12, [&] { return log(delta(mu, epsilon)); }, mu, epsilon);
    check(gaussian_delta(mu * 0x1p200, epsilon * 0x1p200), 1e-12, [&] { return delta(mu * 0x1p200, epsilon * 0x1p200); }, mu, epsilon);
    // Huge mu at the double next to mu^2/2: y is all remainder. Arb's erfc gives up at such z, but 1/z - 1/z^3 < Mills(z) < 1/z.
    const double huge = uniform(1, 2) * std::pow(2, 40 + i % 17);
    const double step = huge * huge / 2;
    const auto truth = [&] {
      const Ball y = Ball(step) / Ball(huge) - Ball(huge) / Ball(2);
      const Ball z = y + Ball(huge);
      const Ball half_gap = Ball(1) / (Ball(2) * z * z * z);
      Ball mills = Ball(1) / z - half_gap;
      arb_add_error(mills.get(), half_gap.get());
      return cdf(-y) - density(y) * mills;
    };
    check(gaussian_delta(huge, step), 1e-11, truth, huge, step);
    check(gaussian_complement(huge, step), 1e-11, [&] { return Ball(1) - truth(); }, huge, step);
  }
}

/// An inverse is correct if the function, computed by Arb, is on the correct side at each of its ends.
template <class Function>
void expect_crossing(Interval root, const Ball& target, Function function, bool increasing, const std::string& where) {
  ASSERT_LE(root.lo, root.hi) << where;
  const auto beyond = [&](double x, bool over) {
    Ball value;
    if (!precisely(value, [&] { return function(x); })) return false;
    return over ? certainly_less(target, value) : certainly_less(value, target);
  };
  if (std::isfinite(root.lo) && root.lo != 0) {
    EXPECT_FALSE(beyond(root.lo, increasing)) << where << " low end of " << ::testing::PrintToString(root);
  }
  if (std::isfinite(root.hi)) {
    EXPECT_FALSE(beyond(root.hi, !increasing)) << where << " high end of " << ::testing::PrintToString(root);
  }
}

TEST_F(Oracle, Quantiles) {
  for (int i = 0; i < scaled(4000); ++i) {
    const double p = i % 3 == 0 ? scale(-307, 0) : i % 3 == 1 ? uniform(0, 1) : 0.5 + uniform(-1, 1) * scale(-16, -1);
    const std::string where = "p = " + ::testing::PrintToString(p);
    expect_crossing(normal_quantile(p), p, [](double x) { return cdf(x); }, true, where);
    EXPECT_THAT(normal_quantile(p), IsTight(1e-13)) << where;
    expect_crossing(normal_quantile_of_complement(p), p, [](double x) { return cdf(-Ball(x)); }, false, where);
    const double log_p = -scale(-10, 9);
    const std::string where_log = "log p = " + ::testing::PrintToString(log_p);
    expect_crossing(normal_quantile_of_log(log_p), log_p, [](double x) { return log(cdf(x)); }, true, where_log);
    EXPECT_LE(normal_quantile_of_log(log_p).width(), 1e-12 * std::max(1.0, std::abs(normal_quantile_of_log(log_p).hi))) << where_log;
  }
}

TEST_F(Oracle, ProfileInverses) {
  for (int i = 0; i < scaled(3000); ++i) {
    const double epsilon = i % 8 == 0 ? 0 : scale(-5, 3);
    const double probability = i % 2 == 0 ? scale(-300, 0) : uniform(0, 1);
    const std::string where = "epsilon = " + ::testing::PrintToString(epsilon) + ", delta = " + ::testing::PrintToString(probability);
    const Interval mu = gaussian_mu(epsilon, probability);
    expect_crossing(mu, probability, [&](double m) { return delta(m, epsilon); }, true, where);
    EXPECT_THAT(mu, IsTight(1e-12)) << where;
    const Interval from_complement = gaussian_mu_of_complement(Interval::exactly(epsilon), Interval::exactly(probability));
    expect_crossing(from_complement, probability, [&](double m) { return complement(m, epsilon); }, false, where + " (complement)");
    EXPECT_THAT(from_complement, IsTight(1e-11)) << where << " (complement)";

    const double m = any_mu();
    const std::string where_mu = "mu = " + ::testing::PrintToString(m) + ", delta = " + ::testing::PrintToString(probability);
    const Interval answer = gaussian_epsilon(Interval::exactly(m), Interval::exactly(probability));
    expect_crossing(answer, probability, [&](double e) { return delta(m, e); }, false, where_mu);
  }
}

TEST_F(Oracle, TradeOffFunction) {
  for (int i = 0; i < scaled(4000); ++i) {
    const double x = uniform(-37, 37);
    const double mu = i % 3 == 0 ? scale(-12, 1) : uniform(0, 20);
    const Interval alpha = normal_cdf(x);
    check(gaussian_beta(Interval::exactly(mu), alpha), 1, [&] { return cdf(-Ball(x) - Ball(mu)); }, mu, x);
    check(gaussian_power(Interval::exactly(mu), alpha), 1, [&] { return cdf(Ball(x) + Ball(mu)); }, mu, x);
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
