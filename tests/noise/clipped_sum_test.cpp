// SPDX-License-Identifier: Apache-2.0
// The integer core of tradeoff.torch: no contribution exceeds the bound, whatever the gradients are, and sums are exact. [torch-step]
#include "noise/clipped_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "noise/natural.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::test {
namespace {

using noise::add_clipped_rows;
using noise::ClippedRows;
using noise::GradientRows;
using noise::Wide;
using Sums = std::vector<std::vector<std::int64_t>>;

constexpr double step = 0x1p-20;
constexpr std::uint64_t bound = 1 << 20;

/// The gradients of some parameters for a physical batch.
struct Gradients {
  std::vector<std::size_t> columns;
  std::vector<std::vector<float>> values;
  std::size_t rows;

  Gradients(std::size_t count, std::vector<std::size_t> widths, double size, std::uint64_t seed) : columns(std::move(widths)), rows(count) {
    std::mt19937_64 words(seed);
    std::normal_distribution<double> normal;
    std::size_t all = 0;
    for (const std::size_t one : columns) all += one;
    for (const std::size_t one : columns) {
      values.emplace_back(rows * one);
      for (float& value : values.back()) value = static_cast<float>(size / std::sqrt(static_cast<double>(all)) * normal(words));
    }
  }

  [[nodiscard]] Sums sums(const std::vector<std::uint8_t>& mask, ClippedRows& counts, unsigned threads = 1) const {
    Sums found;
    std::vector<GradientRows> parameters;
    for (const std::size_t one : columns) found.emplace_back(one);
    for (std::size_t i = 0; i < columns.size(); ++i) parameters.push_back({values[i].data(), columns[i], found[i].data()});
    counts = add_clipped_rows(parameters, mask, step, bound, threads);
    return found;
  }

  /// What one example adds.
  [[nodiscard]] Sums alone(std::size_t row) const {
    std::vector<std::uint8_t> mask(rows);
    mask[row] = 1;
    ClippedRows counts;
    return sums(mask, counts);
  }
};

Wide squared_norm(const Sums& sums) {
  Wide total = 0;
  for (const auto& one : sums)
    for (const std::int64_t value : one)
      total += static_cast<Wide>(static_cast<std::uint64_t>(std::abs(value))) * static_cast<std::uint64_t>(std::abs(value));
  return total;
}

TEST(ClippedSum, NoContributionExceedsTheBound) {
  for (const double size : {1e-30, 1e-6, 0.01, 0.999999, 1.0, 1.000001, 3.0, 1e4, 1e18, 1e36}) {
    const Gradients gradients(5, {301, 1, 2048, 7}, size, 3);
    for (std::size_t row = 0; row < gradients.rows; ++row) {
      const Wide found = squared_norm(gradients.alone(row));
      EXPECT_LE(found, static_cast<Wide>(bound) * bound) << size;
      if (size >= 3) {  // little is lost
        EXPECT_GE(std::sqrt(static_cast<double>(found)), static_cast<double>(bound) * (1 - 0x1p-15)) << size;
      }
    }
  }
}

TEST(ClippedSum, ShortGradientsAreTruncatedExactly) {
  const Gradients gradients(3, {17, 4}, 0.1, 5);
  for (std::size_t row = 0; row < 3; ++row) {
    const Sums found = gradients.alone(row);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t k = 0; k < gradients.columns[i]; ++k)
        EXPECT_EQ(found[i][k],
                  static_cast<std::int64_t>(std::trunc(gradients.values[i][row * gradients.columns[i] + k] / static_cast<float>(step))));
  }
}

TEST(ClippedSum, SumsAreThoseOfSingleExamplesForAnyThreads) {
  const Gradients gradients(1100, {5, 2049, 64}, 2, 7);  // more rows and columns than are summed at once
  std::vector<std::uint8_t> mask(gradients.rows, 1);
  mask[3] = mask[1099] = 0;
  Sums expected{std::vector<std::int64_t>(5), std::vector<std::int64_t>(2049), std::vector<std::int64_t>(64)};
  for (std::size_t row = 0; row < gradients.rows; ++row) {
    if (mask[row] == 0 || row % 5 != 0) {
      mask[row] = 0;
      continue;
    }
    const Sums one = gradients.alone(row);
    for (std::size_t i = 0; i < one.size(); ++i)
      for (std::size_t k = 0; k < one[i].size(); ++k) expected[i][k] += one[i][k];
  }
  for (const unsigned threads : {1U, 2U, 7U}) {
    ClippedRows counts;
    EXPECT_EQ(gradients.sums(mask, counts, threads), expected) << threads;
    EXPECT_EQ(counts.zeroed, 0U);
    EXPECT_GT(counts.clipped, 200U);
  }
}

TEST(ClippedSum, WhatIsNotFiniteContributesNothing) {
  constexpr float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()};
  for (const float value : bad) {
    Gradients gradients(2, {2100}, 1, 9);
    gradients.values[0][2099] = value;
    ClippedRows counts;
    const Sums both = gradients.sums({1, 1}, counts);
    EXPECT_EQ(counts.zeroed, 1U);
    EXPECT_EQ(both, gradients.alone(1));
  }
  Gradients large(1, {3}, 1, 9);
  large.values[0] = {3e38F, -3e38F, 3e38F};
  EXPECT_GT(squared_norm(large.alone(0)), Wide{0});
}

TEST(ClippedSum, PaddingContributesNothing) {
  Gradients gradients(4, {10}, 1, 11);
  for (std::size_t k = 0; k < 10; ++k) gradients.values[0][10 + k] = std::numeric_limits<float>::quiet_NaN();
  ClippedRows counts;
  const Sums found = gradients.sums({0, 0, 0, 0}, counts);
  EXPECT_EQ(squared_norm(found), Wide{0});
  EXPECT_EQ(counts.clipped + counts.zeroed, 0U);
}

/// Scaled to twice the bound, every long example fails the check: it is taken back, exactly, and the others stay.
TEST(ClippedSum, AFailedCheckTakesTheExampleBack) {
  Gradients gradients(3, {4096, 3}, 1000, 13);
  for (std::size_t k = 0; k < 4096; ++k) gradients.values[0][4096 + k] *= 1e-5F;
  for (std::size_t k = 0; k < 3; ++k) gradients.values[1][3 + k] *= 1e-5F;
  Sums sums{std::vector<std::int64_t>(4096, 5), std::vector<std::int64_t>(3, -5)};
  const Sums short_one = gradients.alone(1);
  const std::vector<GradientRows> parameters{{gradients.values[0].data(), 4096, sums[0].data()},
                                             {gradients.values[1].data(), 3, sums[1].data()}};
  const ClippedRows counts = add_clipped_rows(parameters, std::vector<std::uint8_t>{1, 1, 1}, step, bound, 2, 2.0);
  EXPECT_EQ(counts.zeroed, 2U);
  EXPECT_GT(squared_norm(short_one), Wide{0});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < sums[i].size(); ++k) EXPECT_EQ(sums[i][k], short_one[i][k] + (i == 0 ? 5 : -5));
}

TEST(ClippedSum, BadTermsAreRefused) {
  float value = 1;
  std::int64_t sum = 7;
  const std::vector<GradientRows> parameters{{&value, 1, &sum}};
  const std::vector<std::uint8_t> mask{1};
  for (const std::uint64_t bad : {std::uint64_t{0}, noise::largest_clip_bound + 1})
    EXPECT_THROW(add_clipped_rows(parameters, mask, step, bad, 1), DomainError);
  for (const double bad : {0.0, -1.0, 3.0, 0x1p-61, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(add_clipped_rows(parameters, mask, bad, bound, 1), DomainError);
  EXPECT_EQ(sum, 7);
}

}  // namespace
}  // namespace tradeoff::detail::test
