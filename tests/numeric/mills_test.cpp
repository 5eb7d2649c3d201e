// SPDX-License-Identifier: Apache-2.0
// The kernel of the normal functions: its table, its truncation and its proved error bounds, each against Arb. [normal-functions]
#include "numeric/mills.h"

#include <gtest/gtest.h>

#include <random>

#include "numeric/mills_table.h"
#include "support/ball.h"
#include "support/matchers.h"

namespace tradeoff::detail::test {
namespace {

struct Piece {
  double centre;
  double width;
};
Piece piece(int index) {
  if (index < 24) return {(2 * index + 1) / 16.0 - 1, 0.125};
  const double octave = std::ldexp(2, (index - 24) / 16);
  return {octave * (1 + (2 * ((index - 24) % 16) + 1) / 32.0), octave / 16};
}

/// I_n(c) / n! by the recurrence from Mills(c), with extra bits for its cancellation.
std::vector<Ball> coefficients(double c, int last) {
  Ball::precision = 600;
  const Ball x(c);
  std::vector<Ball> moments{cdf(-x) / density(x)};
  moments.push_back(Ball(1) - x * moments[0]);
  for (int n = 1; n < last; ++n) moments.push_back(Ball(n) * moments[static_cast<std::size_t>(n) - 1] - x * moments.back());
  Ball factorial(1);
  for (std::size_t n = 1; n < moments.size(); ++n) {
    factorial = factorial * Ball(static_cast<double>(n));
    moments[n] = moments[n] / factorial;
  }
  return moments;
}

double upper(const Ball& ball) {
  arf_t bound;
  arf_init(bound);
  arb_get_abs_ubound_arf(bound, ball.get(), 60);
  const double value = arf_get_d(bound, ARF_RND_CEIL);
  arf_clear(bound);
  return value;
}

TEST(Mills, EveryTableEntryIsTheNearestDouble) {
  for (int index = 0; index < numeric::mills_pieces; ++index) {
    const std::vector<Ball> truth = coefficients(piece(index).centre, numeric::mills_degree);
    for (int n = 0; n <= numeric::mills_degree; ++n) {
      const double entry = numeric::mills_table[index][n];
      const Ball error = (truth[static_cast<std::size_t>(n)] - Ball(entry)) / Ball(entry);
      EXPECT_LE(upper(error), unit_roundoff) << "piece " << index << " coefficient " << n;
    }
  }
}

TEST(Mills, TruncationIsBelowTheBudget) {
  // Remainders as the theory page gives them: the next coefficient at the left end of the reach, times the power of the reach.
  for (int index = 0; index < numeric::mills_pieces; ++index) {
    const auto [centre, width] = piece(index);
    const auto power = [](double base, int exponent) { return std::pow(base, exponent); };
    const std::vector<Ball> half = coefficients(centre - width / 2, 12);
    const std::vector<Ball> right_half = coefficients(centre + width / 2, 1);
    EXPECT_LE(upper(half[12] / right_half[0]) * power(width / 2, 12), 0.02 * unit_roundoff) << index;
    const std::vector<Ball> full = coefficients(centre - width, 16);
    const std::vector<Ball> right_full = coefficients(centre + width, 1);
    EXPECT_LE(16 * upper(full[16] / right_full[1]) * power(width, 15), 0.04 * unit_roundoff) << index;
  }
}

TEST(Mills, RatiosUsedInTheProof) {
  for (int index = 0; index < numeric::mills_pieces; ++index) {
    const auto [centre, width] = piece(index);
    const std::vector<Ball> c = coefficients(centre, 2);
    EXPECT_LE(width / 2 * upper(c[1] / c[0]), 0.08) << index;
    EXPECT_LE(width * upper(Ball(2) * c[2] / c[1]), 0.22) << index;
    EXPECT_LE(upper(coefficients(centre - width / 2, 1)[0] / coefficients(centre + width / 2, 1)[0]), 1.18) << index;
    EXPECT_LE(upper(coefficients(centre - width, 1)[1] / coefficients(centre + width, 1)[1]), 1.55) << index;
  }
}

/// |value - truth| / truth, from above.
double relative_error(double value, const Ball& truth) { return upper((Ball(value) - truth) / truth); }

TEST(Mills, ErrorsStayWithinTheProvedBounds) {
  std::mt19937_64 random(5);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  double worst_ratio = 0;
  double worst_difference = 0;
  double worst_density = 0;
  for (int i = 0; i < 12000; ++i) {
    const double x = i % 3 == 0 ? uniform(-1, 2) : i % 3 == 1 ? uniform(2, 40) : std::pow(10, uniform(-3, 6));
    Ball truth;
    const numeric::Approximation ratio = numeric::mills({{x, 0}, 0});
    ASSERT_TRUE(precisely(truth, [&] { return cdf(-Ball(x)) / density(x); }));
    worst_ratio = std::max(worst_ratio, relative_error(ratio.value, truth) / ratio.relative_error);

    const double mu = std::pow(10, uniform(-6, 2));
    const double z = x + mu;
    const double z_low = numeric::two_sum_error(x, mu, z);
    const numeric::MillsDifference difference = numeric::mills_difference({{x, 0}, 0}, {{z, z_low}, 0}, mu);
    ASSERT_TRUE(precisely(truth, [&] {
      const Ball y(x);
      const Ball end = y + Ball(mu);
      return (cdf(-y) / density(y) - cdf(-end) / density(end)) / Ball(difference.scale);
    }));
    worst_difference = std::max(worst_difference, relative_error(difference.factor.value, truth) / difference.factor.relative_error);

    const double d = uniform(-40, 40);
    const numeric::Density value = numeric::density({{d, 0}, 0});
    ASSERT_TRUE(precisely(truth, [&] { return density(d) / Ball(value.tail); }));
    worst_density = std::max(worst_density, relative_error(value.value.value, truth) / value.value.relative_error);
  }
  RecordProperty("ratio", std::to_string(worst_ratio));
  RecordProperty("difference", std::to_string(worst_difference));
  RecordProperty("density", std::to_string(worst_density));
  std::cout << "share of the proved bound used: ratio " << worst_ratio << ", difference " << worst_difference << ", density "
            << worst_density << "\n";
  EXPECT_LE(worst_ratio, 1);
  EXPECT_LE(worst_difference, 1);
  EXPECT_LE(worst_density, 1);
  // A bound that is never approached would show that the test measures nothing.
  EXPECT_GE(std::min({worst_ratio, worst_difference, worst_density}), 0.02);
}

}  // namespace
}  // namespace tradeoff::detail::test
