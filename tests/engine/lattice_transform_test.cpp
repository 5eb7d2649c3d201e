// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "engine/lattice/transform.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

// [tilted-fft] Composition of given distributions compared with direct convolution, at tilts and periods at which every error term matters.
namespace tradeoff::detail::lattice {
namespace {

constexpr double step = 0.125;

Law random_law(std::mt19937_64& generator, int cells, double infinite) {
  std::uniform_real_distribution<double> uniform;
  Law law;
  double total = 0;
  for (int i = -cells; i <= cells; ++i) {
    if (uniform(generator) < 0.2) continue;
    law.index.push_back(i);
    law.mass.push_back(std::exp(-4 * uniform(generator) - 0.02 * i * i));
    total += law.mass.back();
  }
  for (double& mass : law.mass) mass *= (1 - infinite) / total;
  law.infinite = infinite;
  law.finite_total = {(1 - infinite) * (1 - 1e-13), (1 - infinite) * (1 + 1e-13)};
  return law;
}

/// All sums of a list of laws, by plain convolution in long double.
std::map<std::int64_t, long double> convolve(const std::vector<Factor>& factors, Side side) {
  std::map<std::int64_t, long double> sum{{0, 1.0L}};
  for (const Factor& factor : factors) {
    const Law& law = side == Side::above ? factor.pair.above : factor.pair.below;
    for (int run = 0; run < static_cast<int>(factor.times); ++run) {
      std::map<std::int64_t, long double> next;
      for (const auto& [index, mass] : sum) {
        for (std::size_t i = 0; i < law.mass.size(); ++i) next[index + law.index[i]] += mass * static_cast<long double>(law.mass[i]);
      }
      sum = std::move(next);
    }
  }
  return sum;
}

/// The true value to within 1e-13.
Interval finite_delta(const std::map<std::int64_t, long double>& law, double epsilon) {
  long double sum = 0;
  for (const auto& [index, mass] : law) {
    const long double above = static_cast<long double>(step) * static_cast<long double>(index) - static_cast<long double>(epsilon);
    if (above > 0) sum += mass * -std::expm1(-above);
  }
  const auto value = static_cast<double>(sum);
  return {value * (1 - 1e-13), value * (1 + 1e-13)};
}

class LatticeTransform : public ::testing::Test {
 protected:
  LatticeTransform() {
    std::mt19937_64 generator(11);
    for (const double times : {7.0, 1.0, 4.0}) {
      factors_.push_back({{random_law(generator, 12, 1e-3), random_law(generator, 9, 0)}, times});
    }
  }

  /// The enclosure is valid; the test states its largest width.
  void expect_right(const Tilt& tilt, unsigned log2_size, double epsilon, double widest) const {
    const Outline outline(factors_, step);
    const ComposedPair composed = compose_tilted(factors_, step, outline, tilt, log2_size);
    for (const Side side : {Side::above, Side::below}) {
      const Reading reading = read(side == Side::above ? composed.above : composed.below, epsilon);
      const Interval found = exp(reading.log_finite);
      EXPECT_THAT(found, test::Encloses(finite_delta(convolve(factors_, side), epsilon)))
          << "tilt " << tilt.value << ", size 2^" << log2_size << ", epsilon " << epsilon;
      EXPECT_THAT(found, test::IsTight(widest)) << "tilt " << tilt.value << ", epsilon " << epsilon;
    }
  }

  std::vector<Factor> factors_;
};

TEST_F(LatticeTransform, ComposesToRelativeAccuracyFromHeadToTail) {
  const Outline outline(factors_, step);
  for (const double epsilon : {-6.0, -2.0, -0.125, 0.0, 0.3, 1.0, 2.5, 5.0, 8.0, 12.0, 15.0}) {
    const Tilt tilt = outline.tilt(epsilon, -25);
    unsigned log2_size = 6;
    while (std::ldexp(step, static_cast<int>(log2_size)) < tilt.period) ++log2_size;
    expect_right(tilt, log2_size, epsilon, 1e-8);
  }
}

TEST_F(LatticeTransform, BothStripsAgree) {
  for (const double tilt : {-0.7, -0.3}) expect_right({tilt, tilt, -1, 0, 0}, 11, -1.0, 1e-8);
  for (const double tilt : {0.4, 1.5}) expect_right({tilt, tilt, 0, 3 * tilt, 0}, 11, -1.0, 1e-8);
}

TEST_F(LatticeTransform, IncludesTheErrorOfAShortPeriod) {
  // 2^5 cells are a period of 4, but the sum is spread over 30: the copies are as large as the true value.
  for (const double epsilon : {-1.0, 0.5, 1.0, 2.0, 3.0, 4.5}) {
    expect_right({0.5, 0.5, 0, 1, 0}, 5, epsilon, 1);
    expect_right({1.2, 1.2, 0.3, 2, 0}, 5, epsilon, 1);
    expect_right({-0.5, -0.5, -1, 0, 0}, 5, epsilon, 1);
  }
}

TEST_F(LatticeTransform, IncludesTheRoundingFarFromTheSaddlePoint) {
  // With hardly any tilt the tail is below the rounding of the transform; only the error bound makes the answer valid.
  for (const double epsilon : {8.0, 11.0, 13.0, 14.0, 15.0, 16.0}) expect_right({0.05, 0.05, 0, 4, 0}, 14, epsilon, 1);
}

TEST_F(LatticeTransform, CountsInfiniteLosses) {
  const Outline outline(factors_, step);
  const ComposedPair composed = compose_tilted(factors_, step, outline, {1, 1, 0, 2, 0}, 10);
  EXPECT_THAT(composed.above.infinite_total, test::Encloses(Interval{-std::expm1(12 * std::log1p(-1e-3)) * (1 - 1e-10),
                                                                     -std::expm1(12 * std::log1p(-1e-3)) * (1 + 1e-10)}));
  EXPECT_EQ(composed.below.infinite_total.hi, 0);
}

TEST_F(LatticeTransform, IsZeroAboveTheLargestLoss) {
  const Outline outline(factors_, step);
  const ComposedPair composed = compose_tilted(factors_, step, outline, {1, 1, 0, 2, 0}, 10);
  const double top = step * static_cast<double>(composed.above.top);
  EXPECT_EQ(read(composed.above, top).log_finite.hi, -infinity);
  EXPECT_GT(read(composed.above, top - step / 2).log_finite.hi, -infinity);
}

// Masses that leave the range of doubles give no information; they must not be read as zero.
TEST(LatticeTransformRange, ClaimsNothingWhereMassesUnderflow) {
  Law law;
  law.index = {-4, 4};
  law.mass = {0.25, 0.75};
  law.finite_total = Interval::exactly(1);
  const std::vector<Factor> factors{{{law, law}, 3}};
  const Outline outline(factors, step);
  for (const Tilt& tilt : {Tilt{infinity, infinity, 0, infinity, 1}, Tilt{std::nan(""), 1, 0, 2, 1}}) {
    const ComposedPair composed = compose_tilted(factors, step, outline, tilt, 6);
    EXPECT_FALSE(composed.above.known);
    const Reading reading = read(composed.above, 0);
    EXPECT_EQ(reading.log_finite.lo, -infinity);
    EXPECT_GE(reading.log_finite.hi, 0);
  }
}

TEST(LatticeTransformLarge, KeepsItsDigitsOverAMillionRuns) {
  // A fair-coin walk with 2^20 steps: P(L > 0) is known from the central binomial coefficient.
  Law law{{-1, 1}, {0.5, 0.5}, 0, Interval::exactly(1)};
  const double small = 0x1p-13, times = 0x1p20;
  const std::vector<Factor> factors{{{law, law}, times}};
  const Outline outline(factors, small);
  const double epsilon = 0.05;
  const Tilt tilt = outline.tilt(epsilon, -20);
  const ComposedPair composed = compose_tilted(factors, small, outline, tilt, 16);
  // The sum, by binomial weights from lgamma; 1e-8 covers lgamma's absolute error at 2^20.
  double truth = 0;
  for (double k = times / 2; k <= times / 2 + 10000; ++k) {
    const double loss = small * (2 * k - times);
    if (loss <= epsilon) continue;
    const double log_ways = std::lgamma(times + 1) - std::lgamma(k + 1) - std::lgamma(times - k + 1);
    truth += std::exp(log_ways - times * std::log(2.0)) * -std::expm1(epsilon - loss);
  }
  const Reading reading = read(composed.above, epsilon);
  EXPECT_THAT(exp(reading.log_finite), test::Encloses(Interval{truth * (1 - 1e-7), truth * (1 + 1e-7)}));
  EXPECT_LE(reading.log_finite.hi - reading.log_finite.lo, 1e-5);
}

}  // namespace
}  // namespace tradeoff::detail::lattice
