// SPDX-License-Identifier: Apache-2.0
// [whole-noise], [skellam-noise], [binomial-noise], [discrete-gaussian-sum], [discrete-laplace-sum]
#include "mechanism/whole_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "loss/atoms.h"
#include "loss/tail.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/discrete_laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using Law = std::map<int, long double>;

Law normalised(Law law) {
  long double total = 0;
  for (const auto& [y, mass] : law) total += mass;
  for (auto& [y, mass] : law) mass /= total;
  return law;
}
Law poisson(long double mean) {
  Law law;
  for (int k = 0; k < 120; ++k) law[k] = std::exp(-mean + k * std::log(mean) - std::lgamma(static_cast<long double>(k + 1)));
  return law;
}
Law convolution(const Law& a, const Law& b, int sign) {
  Law law;
  for (const auto& [x, p] : a)
    for (const auto& [y, q] : b) law[x + sign * y] += p * q;
  return law;
}
/// The hockey-stick divergence of the law from its shift.
double brute(const Law& law, int shift, double epsilon) {
  long double sum = 0;
  for (const auto& [y, mass] : law) {
    const auto other = law.find(y + shift);
    sum += std::max(0.0L, mass - std::exp(static_cast<long double>(epsilon)) * (other == law.end() ? 0 : other->second));
  }
  return static_cast<double>(sum);
}

void expect_law(const WholeNoise& noise, const Law& law) {
  for (const int shift : {1, 2, 5}) {
    const LossPointer loss = whole_noise_loss(noise, static_cast<std::uint64_t>(shift), {}, {});
    for (const double epsilon : {-1.0, 0.0, 0.1, 0.5, 1.5, 3.0}) {
      const Interval found = loss->delta(Direction::remove, Interval::exactly(epsilon));
      const double truth = brute(law, shift, epsilon);
      EXPECT_NEAR(found.lo, truth, 1e-12 + 1e-9 * truth) << shift << " " << epsilon;
      EXPECT_NEAR(found.hi, truth, 1e-12 + 1e-9 * truth) << shift << " " << epsilon;
    }
  }
}

TEST(Skellam, AgreesWithBruteForce) {
  for (const double variance : {0.05, 1.0, 9.0, 30.0})
    expect_law(skellam_noise(Interval::exactly(variance)), convolution(poisson(variance / 2), poisson(variance / 2), -1));
}

TEST(Binomial, AgreesWithBruteForce) {
  for (const int trials : {1, 2, 7, 40}) {
    Law law;
    for (int k = 0; k <= trials; ++k)
      law[k] = std::exp(std::lgamma(trials + 1.0L) - std::lgamma(k + 1.0L) - std::lgamma(trials - k + 1.0L) - trials * std::log(2.0L));
    expect_law(binomial_noise(static_cast<std::uint64_t>(trials), Interval::exactly(0.5), true), law);
  }
}

// The answer may rise or fall: both orders of a skewed law, which differ.
TEST(Binomial, SkewedNoiseHasTwoOrders) {
  Law law;
  for (int k = 0; k <= 20; ++k)
    law[k] = std::exp(std::lgamma(21.0L) - std::lgamma(k + 1.0L) - std::lgamma(21.0L - k) + k * std::log(0.3L) + (20 - k) * std::log(0.7L));
  Law mirrored;
  for (const auto& [y, mass] : law) mirrored[-y] = mass;
  const LossPointer loss = whole_noise_loss(binomial_noise(20, Interval{0.3, std::nextafter(0.3, 1)}, false), 2, {}, {});
  for (const double epsilon : {0.0, 0.5, 1.0}) {
    EXPECT_NEAR(loss->delta(Direction::remove, Interval::exactly(epsilon)).hi, brute(law, 2, epsilon), 1e-10);
    EXPECT_NEAR(loss->delta(Direction::add, Interval::exactly(epsilon)).hi, brute(mirrored, 2, epsilon), 1e-10);
  }
}

Law gaussian_law(long double sigma) {
  Law law;
  for (int y = -60; y <= 60; ++y) law[y] = std::exp(-y * y / (2 * sigma * sigma));
  return normalised(law);
}
Law laplace_law(long double scale) {
  Law law;
  for (int y = -250; y <= 250; ++y) law[y] = std::exp(-std::abs(y) / scale);
  return normalised(law);
}

TEST(DiscreteGaussianSum, AgreesWithBruteForce) {
  for (const double sigma : {0.3, 0.7, 1.0, 2.5}) {
    Law law = gaussian_law(sigma);
    const Law one = law;
    for (std::uint64_t terms = 2; terms <= 4; ++terms) {
      law = convolution(law, one, 1);
      expect_law(discrete_gaussian_sum(Interval::exactly(sigma), terms), law);
    }
  }
}

// The sum of discrete Gaussians is no discrete Gaussian: for sigma = 0.5 the difference is visible, for 2 it is not.
TEST(DiscreteGaussianSum, IsNotADiscreteGaussian) {
  const auto delta = [](const LossPointer& loss) { return loss->delta(Direction::remove, Interval::exactly(0.5)); };
  const Interval sum = delta(whole_noise_loss(discrete_gaussian_sum(Interval::exactly(0.5), 4), 1, {}, {}));
  const Interval one = delta(discrete_gaussian(Interval::exactly(1), 1));
  EXPECT_TRUE(sum.lo > one.hi || sum.hi < one.lo);
  const Interval wide = delta(whole_noise_loss(discrete_gaussian_sum(Interval::exactly(2), 4), 1, {}, {}));
  const Interval single = delta(discrete_gaussian(Interval::exactly(4), 1));
  EXPECT_NEAR(wide.lo, single.lo, 1e-12);
}

// Both ways to compute it agree where both are open.
TEST(DiscreteGaussianSum, TheTwoWaysAgree) {
  const double edge = 1.62;  // near the change from one to the other
  for (const double sigma : {edge, edge + 0.12})
    for (const std::uint64_t terms : {2, 30}) {
      const LossPointer loss = whole_noise_loss(discrete_gaussian_sum(Interval::exactly(sigma), terms), 1, {}, {});
      const LossPointer near = discrete_gaussian(sqrt(Interval::exactly(terms)) * sigma, 1);
      EXPECT_NEAR(loss->delta(Direction::remove, Interval::exactly(0.1)).hi, near->delta(Direction::remove, Interval::exactly(0.1)).hi,
                  1e-9);
    }
}

/// log I_y(v) by its series.
long double log_bessel(int y, long double v) {
  long double log_term = y * std::log(v / 2) - std::lgamma(y + 1.0L), sum = 0, term = 1;
  for (int k = 1; term > 0; ++k) {
    sum += term;
    term *= (v / 2) * (v / 2) / (static_cast<long double>(k) * (y + k));
    if (term < 1e-25L * sum) break;
  }
  return log_term + std::log(sum);
}

// Beyond the table: log P(L > e) is below the model, and the model is not far above where it begins.
TEST(Skellam, TheTailIsAboveTheTruth) {
  for (const double variance : {0.5, 9.0, 400.0})
    for (const std::uint64_t shift : {1, 3}) {
      const WholeNoise noise = skellam_noise(Interval::exactly(variance));
      const auto tail = skellam_tail(noise, Interval::exactly(variance), shift);
      ASSERT_TRUE(tail && tail->gaussian);
      const int last = static_cast<int>(noise.weights.size() / 2), moved = static_cast<int>(shift);
      int checked = 0;
      for (int y = last + 1; y < 4 * last; ++y) {
        // at e just below the loss of y: P(L > e) >= P(Y = y)
        const long double weight = log_bessel(y, variance), loss = weight - log_bessel(y + moved, variance);
        const double e = static_cast<double>(loss) * (1 - 1e-12);
        if (e < tail->gaussian->from) continue;
        const GaussianTail& model = *tail->gaussian;
        const double bound = model.log_factor + model.slope * e - e * e / (2 * model.width * model.width);
        EXPECT_GE(bound, static_cast<double>(weight - variance)) << variance << " " << shift << " " << y;
        ++checked;
      }
      EXPECT_GT(checked, last);
      const double begin = tail->gaussian->from;
      EXPECT_LT(tail->gaussian->log_factor + tail->gaussian->slope * begin - begin * begin / 2 / std::pow(tail->gaussian->width, 2), -600);
    }
}

// mu and the tail of a sum that is near a discrete Gaussian, by all thresholds of its own law.
TEST(DiscreteGaussianSum, TheTailAndMuAreAboveTheTruth) {
  for (const double sigma : {0.75, 1.0, 1.6}) {
    Law law = gaussian_law(sigma);
    law = convolution(convolution(law, gaussian_law(sigma), 1), gaussian_law(sigma), 1);
    const auto near = near_sum(Interval::exactly(sigma), 3);
    ASSERT_EQ(near.has_value(), sigma > 0.7);
    const Law base = gaussian_law(sigma * std::sqrt(3.0L));
    long double farthest = 0;
    for (int y = -20; y <= 20; ++y) farthest = std::max(farthest, std::abs(std::log(law.at(y) / base.at(y))));
    EXPECT_LE(farthest, near->distance + 1e-14) << sigma;
    for (const int shift : {1, 2}) {
      const Tail tail = tail_near({near->sigma, static_cast<double>(shift), near->distance});
      ASSERT_TRUE(tail.gaussian);
      int checked = 0;
      for (const auto& [y, mass] : law) {
        if (mass < 1e-300L || law.find(y + shift) == law.end()) continue;
        const auto epsilon = static_cast<double>(std::log(mass / law.at(y + shift))) - 1e-9;
        if (epsilon < tail.gaussian->from) continue;
        const double model = tail.gaussian->log_factor + tail.gaussian->slope * epsilon - std::pow(epsilon / tail.gaussian->width, 2) / 2;
        EXPECT_GE(model, std::log(brute(law, shift, epsilon))) << sigma << " " << epsilon;
        ++checked;
      }
      EXPECT_GT(checked, 5);
      if (!(tail.gdp_mu < infinity)) continue;
      for (double epsilon = 0; epsilon < 3; epsilon += 0.1) {
        const double bound = 0.5 * std::erfc(-(tail.gdp_mu / 2 - epsilon / tail.gdp_mu) / std::sqrt(2)) -
                             std::exp(epsilon) * 0.5 * std::erfc((tail.gdp_mu / 2 + epsilon / tail.gdp_mu) / std::sqrt(2));
        EXPECT_GE(bound, brute(law, shift, epsilon) - 1e-15) << sigma << " " << epsilon;
      }
    }
  }
}

TEST(DiscreteLaplaceSum, AgreesWithBruteForce) {
  for (const double scale : {0.4, 1.0, 3.0}) {
    Law law = laplace_law(scale);
    const Law one = law;
    for (std::uint64_t terms = 2; terms <= 3; ++terms) {
      law = convolution(law, one, 1);
      expect_law(discrete_laplace_sum(Interval::exactly(scale), terms), law);
    }
    expect_law(discrete_laplace_sum(Interval::exactly(scale), 1), one);
  }
}

TEST(DiscreteLaplaceSum, KeepsTheLargestLossOfOneTerm) {
  const LossPointer loss = whole_noise_loss(discrete_laplace_sum(Interval::exactly(2), 5), 3, {}, {});
  EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(1.5000001)).hi, 0);
  EXPECT_GT(loss->delta(Direction::remove, Interval::exactly(1.4)).hi, 0);
  EXPECT_EQ(loss->infinite_mass(Direction::add), Interval::exactly(0));
}

TEST(WholeNoise, MovesFurtherRevealMore) {
  for (const WholeNoise& noise : {skellam_noise(Interval::exactly(5)), discrete_laplace_sum(Interval::exactly(2), 3),
                                  discrete_gaussian_sum(Interval::exactly(0.9), 3), binomial_noise(30, Interval::exactly(0.5), true)})
    for (const double epsilon : {0.0, 0.3, 1.0}) {
      double before = 0;
      for (const std::uint64_t shift : {0, 1, 2, 3, 6, 40}) {
        const double here = whole_noise_loss(noise, shift, {}, {})->delta(Direction::remove, Interval::exactly(epsilon)).hi;
        EXPECT_GE(here, before - 1e-13);
        before = here;
      }
    }
}

TEST(WholeNoise, MassesAddUpToOne) {
  for (const WholeNoise& noise : {skellam_noise(Interval::exactly(5)), discrete_laplace_sum(Interval::exactly(2), 3),
                                  discrete_gaussian_sum(Interval::exactly(0.9), 3), discrete_gaussian_sum(Interval::exactly(3), 3),
                                  binomial_noise(30, Interval::exactly(0.5), true)}) {
    const LossPointer loss = whole_noise_loss(noise, 2, {}, {});
    const Atoms& atoms = *loss->atoms(Direction::remove);
    Interval total = atoms.infinite;
    for (const Atom& atom : atoms.finite) total = total + atom.mass;
    EXPECT_THAT(total, test::Encloses(1.0));
    EXPECT_LT(total.width(), 1e-9);
  }
}

}  // namespace
}  // namespace tradeoff::detail
