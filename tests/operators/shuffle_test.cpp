// SPDX-License-Identifier: Apache-2.0
#include "operators/shuffle.h"

#include <gtest/gtest.h>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

// [shuffled-batches]
namespace tradeoff::detail {
namespace {

using test::golden_group;
using test::golden_interval;

// Bins of the largest step reveal less than all steps: below the golden value, and not far.
TEST(Shuffle, LargestStepLiesBelowItsPair) {
  for (const auto& one : golden_group("sampling_schemes.json", "shuffle_lower_delta")) {
    const auto& inputs = one.at("inputs");
    const auto loss = largest_batch_loss(1.0 / golden_interval(inputs.at("sigma")), inputs.at("batches").get<std::uint64_t>());
    const double value = std::stod(one.at("value").get<std::string>());
    const Interval delta = loss->delta(Direction::remove, golden_interval(inputs.at("eps")));
    EXPECT_LE(delta.hi, value * (1 + 1e-12)) << one.at("id");
    EXPECT_GE(delta.lo, 0.5 * value) << one.at("id");
  }
}

TEST(Shuffle, LargestStepLiesBelowOneGaussian) {
  for (const double sigma : {0.3, 0.6, 1.0, 4.0})
    for (const std::uint64_t batches : {2u, 50u, 1000u, 1000000u})
      for (const double epsilon : {0.0, 0.5, 3.0, 8.0})
        for (const Direction direction : {Direction::remove, Direction::add}) {
          const auto loss = largest_batch_loss(1.0 / Interval::exactly(sigma), batches);
          EXPECT_LE(loss->delta(direction, Interval::exactly(epsilon)).lo, gaussian_delta(1 / sigma, epsilon).hi * (1 + 1e-9))
              << sigma << ' ' << batches << ' ' << epsilon;
        }
}

// With little noise the largest step tells almost everything.
TEST(Shuffle, LargestStepIsNearlyTheGaussianForLittleNoise) {
  const auto loss = largest_batch_loss(1.0 / Interval::exactly(0.6), 1000);
  EXPECT_GE(loss->delta(Direction::remove, Interval::exactly(7.98)).hi, 1e-5);
  EXPECT_LE(loss->delta(Direction::remove, Interval::exactly(8.01)).lo, 1e-5);
}

}  // namespace
}  // namespace tradeoff::detail
