// SPDX-License-Identifier: Apache-2.0
// [allocation-excess]
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "numeric/arithmetic.h"
#include "operators/allocation.h"
#include "operators/allocation/epoch_density.h"
#include "operators/allocation/replaced_law.h"
#include "support/matchers.h"

namespace tradeoff::detail::allocation {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;

Interval at(double x) { return Interval::exactly(x); }
bool is_narrow(Interval value, double width) { return value.lo > 0 && value.width() <= width * value.hi; }

TEST(AllocationExcess, HoldsGoldenEpochs) {
  int narrow = 0, all = 0;
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_delta")) {
    const auto& inputs = one.at("inputs");
    const Interval mu = 1.0 / golden_interval(inputs.at("sigma")), epsilon = golden_interval(inputs.at("eps"));
    const auto value = inputs.at("direction") == "remove" ? removed_epoch_delta : added_epoch_delta;
    const auto steps = inputs.at("steps").get<double>();
    const Interval found{value(mu, steps, epsilon.hi).lo, value(mu, steps, epsilon.lo).hi};
    EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
    ++all;
    if (is_narrow(found, 1e-7)) ++narrow;
  }
  EXPECT_GE(narrow, 2 * all / 3);
}

TEST(AllocationExcess, HoldsGoldenReplacedRecords) {
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_replace_delta")) {
    const auto& inputs = one.at("inputs");
    const Interval mu = 1.0 / golden_interval(inputs.at("sigma")), epsilon = golden_interval(inputs.at("eps"));
    const auto steps = inputs.at("steps").get<double>();
    const Interval found{replaced_epoch_delta(mu, steps, epsilon.hi).lo, replaced_epoch_delta(mu, steps, epsilon.lo).hi};
    EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_TRUE(is_narrow(found, 1e-9)) << one.at("id");
  }
}

// The integral of the excess of a density, from the law of the same epoch: other formulas, another line and other bends.
TEST(AllocationExcess, AgreesWithLaws) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  int narrow = 0;
  for (int i = 0; i < 8; ++i) {
    const double s = 1 / (0.4 * std::pow(20, uniform(random)));
    const auto steps = static_cast<std::uint64_t>(3 * std::pow(300, uniform(random)));
    const auto count = static_cast<double>(steps);
    const double deviation = std::sqrt(std::expm1(s * s) / count), epsilon = deviation * 4 * uniform(random) + 0.01 * s;
    ReplacedLaw places(s, count);
    const EpochDensity replaced(at(s), steps, std::log(1e-24), places), drawn(at(s), steps, std::log(1e-24));
    const auto agree = [&](Interval found, Interval law, const char* name) {
      EXPECT_TRUE(found.lo <= law.hi && law.lo <= found.hi)
          << name << ' ' << s << ' ' << steps << ' ' << epsilon << ' ' << found.lo << ' ' << found.hi << ' ' << law.lo << ' ' << law.hi;
      if (is_narrow(found, 1e-8) && is_narrow(law, 1e-6)) ++narrow;
    };
    if (replaced.known()) agree(replaced_epoch_delta(at(s), count, epsilon), replaced.delta(Direction::remove, epsilon), "replaced");
    if (drawn.known()) {
      agree(removed_epoch_delta(at(s), count, epsilon), drawn.delta(Direction::remove, epsilon), "removed");
      agree(added_epoch_delta(at(s), count, epsilon / 2), drawn.delta(Direction::add, epsilon / 2), "added");
    }
  }
  EXPECT_GE(narrow, 12);
}

// With two steps the loss of a replaced record is Gaussian, far into its tail.
TEST(AllocationExcess, IsGaussianForTwoReplacedSteps) {
  int narrow = 0;
  for (const double s : {0.05, 0.4, 1.0, 2.0, 3.3})
    for (const double z : {0.3, 2.0, 5.0, 8.0}) {
      const double mu = std::sqrt(2.0) * s, epsilon = mu * z, top = z - mu / 2, bottom = z + mu / 2;
      const double truth = 0.5 * std::erfc(top / std::sqrt(2.0)) - std::exp(epsilon) * 0.5 * std::erfc(bottom / std::sqrt(2.0));
      const Interval found = replaced_epoch_delta(at(s), 2, epsilon);
      EXPECT_LE(found.lo, truth * (1 + 1e-10)) << s << ' ' << z;
      EXPECT_GE(found.hi, truth * (1 - 1e-10)) << s << ' ' << z;
      if (is_narrow(found, 1e-9)) ++narrow;
    }
  EXPECT_GE(narrow, 14);
}

// One large step decides: a T-th of the Gaussian of one step at epsilon + log T is below, and close.
TEST(AllocationExcess, AnswersALargeStep) {
  const double s = 2, steps = 1e4, epsilon = 12;
  const double x = (epsilon + std::log(steps)) / s + s / 2;
  const double least = (0.5 * std::erfc((x - s) / std::sqrt(2.0)) - std::exp(epsilon) * steps * 0.5 * std::erfc(x / std::sqrt(2.0))) / 1;
  const Interval found = removed_epoch_delta(at(s), steps, epsilon);
  ASSERT_TRUE(is_narrow(found, 1e-8));
  EXPECT_GE(found.lo, least * (1 - 1e-9));
  EXPECT_LE(found.hi, least * 1.01);
}

TEST(AllocationExcess, SettlesTheWorstCorner) {
  const LossPointer drawn = allocation_loss(1.0 / Interval{0.3, 0.3}, 100'000, "");
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const auto epsilon = drawn->capabilities(direction).closed_forms->closed_epsilon(direction, at(1e-5));
    ASSERT_TRUE(epsilon);
    EXPECT_LE(epsilon->width(), 1e-8 * epsilon->hi);
    EXPECT_GE(drawn->delta(direction, at(epsilon->lo)).hi, 1e-5 * (1 - 1e-12));
    EXPECT_LE(drawn->delta(direction, at(epsilon->hi)).lo, 1e-5 * (1 + 1e-12));
  }
}

// Where every exponential is rounded to 0 the value is positive all the same.
TEST(AllocationExcess, IsNeverZero) {
  for (const double steps : {100.0, 5000.0, 1e6}) {
    for (const double epsilon : {42.0, 50.0, 100.0}) {
      EXPECT_GT(replaced_epoch_delta(at(1), steps, epsilon).hi, 0);
      EXPECT_GT(removed_epoch_delta(at(0.1), steps, epsilon).hi, 0);
      EXPECT_GT(added_epoch_delta(at(1), steps, epsilon).hi, 0);
    }
  }
  const LossPointer drawn = allocation_loss(at(1), 10'000, ""), replaced = allocation_replace_loss(at(1), 100, "");
  EXPECT_GT(drawn->delta(Direction::add, at(2)).hi, 0);
  EXPECT_GT(replaced->delta(Direction::remove, at(50)).hi, 0);
}

}  // namespace
}  // namespace tradeoff::detail::allocation
