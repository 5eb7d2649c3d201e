// SPDX-License-Identifier: Apache-2.0
// Which records take part in a step. [private-step]
#include "train/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "small_run.h"
#include "support/scale.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::test {
namespace {

using train::Batch;
using train::FixedSizeBatches;
using train::PoissonBatches;

/// Chi-square statistic in standard deviations above its mean.
double excess(const std::vector<double>& counts, double expected) {
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size() - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

TEST(FixedSize, EverySubsetIsEquallyLikely) {
  ReplayForTests words(1);
  FixedSizeBatches batches(3, 7);
  const int draws = static_cast<int>(70'000 * test_scale());
  std::vector<double> subsets(128);
  Batch batch;
  for (int i = 0; i < draws; ++i) {
    batches.draw(words, batch);
    std::size_t bits = 0;
    for (const std::size_t record : batch) bits |= std::size_t{1} << record;
    subsets[bits] += 1;
  }
  std::vector<double> possible;
  for (std::size_t bits = 0; bits < 128; ++bits) {
    if (__builtin_popcountll(bits) == 3)
      possible.push_back(subsets[bits]);
    else
      EXPECT_EQ(subsets[bits], 0);
  }
  ASSERT_EQ(possible.size(), 35U);
  EXPECT_LT(excess(possible, draws / 35.0), 5);
}

TEST(FixedSize, PairsAndSuccessiveBatchesAreIndependentOfTheOrderBefore) {
  ReplayForTests words(2);
  FixedSizeBatches batches(6, 20);
  const int draws = static_cast<int>(40'000 * test_scale());
  std::vector<double> pairs(190), again(7);
  Batch batch, last;
  for (int i = 0; i < draws; ++i) {
    last = batch;
    batches.draw(words, batch);
    const std::set<std::size_t> found(batch.begin(), batch.end());
    ASSERT_EQ(found.size(), 6U);
    ASSERT_LT(*found.rbegin(), 20U);
    for (const std::size_t a : found)
      for (const std::size_t b : found)
        if (a < b) pairs[b * (b - 1) / 2 + a] += 1;
    if (i > 0)
      again[static_cast<std::size_t>(
          std::count_if(last.begin(), last.end(), [&](std::size_t record) { return found.count(record) > 0; }))] += 1;
  }
  // Pairs of one draw are dependent, which widens the statistic by less than a factor of 2.
  EXPECT_LT(excess(pairs, draws * 15 / 190.0), 10);
  double mean = 0;
  for (std::size_t i = 0; i < again.size(); ++i) mean += static_cast<double>(i) * again[i] / (draws - 1);
  EXPECT_NEAR(mean, 6 * 6 / 20.0, 6 / std::sqrt(draws));  // hypergeometric
}

TEST(Poisson, EveryRecordJoinsIndependently) {
  ReplayForTests words(3);
  const PoissonBatches batches(5, 20);
  const int draws = static_cast<int>(40'000 * test_scale());
  std::vector<double> singles(20);
  double size = 0, squares = 0;
  Batch batch;
  for (int i = 0; i < draws; ++i) {
    batches.draw(words, batch, 20);
    for (const std::size_t record : batch) singles[record] += 1;
    size += static_cast<double>(batch.size());
    squares += static_cast<double>(batch.size() * batch.size());
  }
  EXPECT_LT(excess(singles, draws * 0.25), 5);
  const double mean = size / draws;
  EXPECT_NEAR(mean, 5, 10 / std::sqrt(draws));
  EXPECT_NEAR(squares / draws - mean * mean, 20 * 0.25 * 0.75, 40 / std::sqrt(draws));  // the variance of a binomial law
}

TEST(Batches, StateTheirNeighboursAndPlan) {
  const train::ClipGrid grid(read_number("1").value);
  EXPECT_EQ(FixedSizeBatches(2, 9).operation(), "sample(size=2, of=9)");
  EXPECT_EQ(PoissonBatches(2, 9).operation(), "poisson(rate=2/9)");
  EXPECT_EQ(FixedSizeBatches::neighbours(), Neighbours::replace_one);
  EXPECT_EQ(PoissonBatches::neighbours(), Neighbours::add_remove);
  EXPECT_EQ(FixedSizeBatches::sensitivity(grid), 2 * grid.bound());
  EXPECT_EQ(PoissonBatches::sensitivity(grid), grid.bound());
  EXPECT_THROW(FixedSizeBatches(0, 3), DomainError);
  EXPECT_THROW(FixedSizeBatches(4, 3), DomainError);
  EXPECT_THROW(PoissonBatches(4, 3), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail::test
