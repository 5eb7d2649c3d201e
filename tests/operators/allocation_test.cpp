// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "engine/lattice/pair.h"
#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "operators/allocation/contour.h"
#include "operators/allocation/large_step.h"
#include "operators/allocation/laws.h"
#include "operators/allocation/price.h"
#include "support/matchers.h"

// [random-allocation] [allocation-replace-one] [allocation-laws] [allocation-jump] [allocation-price] [allocation-large-step]
// [allocation-profile]
namespace tradeoff::detail {
namespace {

using allocation::Cut;
using allocation::Summand;
using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

constexpr std::array both_directions{Direction::remove, Direction::add};

Interval at(double x) { return Interval::exactly(x); }
LossPointer allocated(double sigma, std::uint64_t steps) { return allocation_loss(1.0 / at(sigma), steps); }
/// delta by options on the sum of likelihood ratios, which shares nothing with the law of their mean. [allocation-price]
Interval priced(Interval mu, std::uint64_t steps, Direction direction, Interval epsilon, double width) {
  const bool remove = direction == Direction::remove;
  const double count = static_cast<double>(steps);
  const Interval strike = at(count) * exp(remove ? epsilon : -epsilon);
  const std::array ends{strike.lo, strike.hi};
  const auto option = remove ? allocation::Option::call : allocation::Option::put;
  const std::vector<Interval> values = allocation::lognormal_options(mu, count, option, ends, width);
  return remove ? Interval{values[1].lo, values[0].hi} : exp(epsilon) * Interval{values[0].lo, values[1].hi};
}
Direction direction_of(const nlohmann::json& inputs) { return inputs.at("direction") == "add" ? Direction::add : Direction::remove; }

TEST(Allocation, HoldsGoldenEpochs) {
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_delta")) {
    const auto& inputs = one.at("inputs");
    const auto loss = allocation_loss(1.0 / golden_interval(inputs.at("sigma")), inputs.at("steps").get<std::uint64_t>());
    const Interval epsilon = golden_interval(inputs.at("eps"));
    const Interval delta = loss->delta(direction_of(inputs), epsilon);
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_LE(delta.hi, delta.lo * (1 + 4e-6)) << one.at("id");
  }
}

// Options at several widths; the golden value lies in all of them.
TEST(Allocation, OptionsHoldGoldenEpochs) {
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_delta")) {
    const auto& inputs = one.at("inputs");
    const auto steps = inputs.at("steps").get<std::uint64_t>();
    for (const double width : {1e-1, 1e-2, 1e-3}) {
      const Interval delta =
          priced(1.0 / golden_interval(inputs.at("sigma")), steps, direction_of(inputs), golden_interval(inputs.at("eps")), width);
      EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id") << ' ' << width;
      if (width == 1e-3) {
        EXPECT_LE(delta.hi, delta.lo * (1 + 1.1e-3)) << one.at("id");
      }
    }
  }
}

// A window that starts above the atom at 0 of the upper distribution loses it.
TEST(Allocation, KeepsTheAtomAtZero) {
  for (const double width : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const Interval value = priced(1.0 / at(0.3), 10, Direction::add, at(0.0855625), width);
    EXPECT_GE(value.hi, 0.75041) << width;
    EXPECT_LE(value.lo, 0.750412) << width;
  }
}

// A lower value that is raised to 0 after its gap was subtracted would lift a chord above the profile.
TEST(Allocation, LowerPairOnAWideLatticeStaysBelow) {
  const lattice::Points points{0.5, {-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  for (const double width : {1e-2, 1e-4}) {
    const lattice::Pair pair = lattice::discretise(*allocated(1, 10), Direction::remove, points, {width, 0});
    const auto delta = [&](const lattice::Law& law) {
      double sum = law.infinite;
      for (std::size_t i = 0; i < law.mass.size(); ++i)
        sum += law.mass[i] * std::max(0.0, 1 - std::exp(0.25 - 0.5 * static_cast<double>(law.index[i])));
      return sum;
    };
    EXPECT_LE(delta(pair.below), 0.070060) << width;
    EXPECT_GE(delta(pair.above), 0.070060) << width;
  }
}

// With two steps delta is an integral over one of them.
double two_steps(double mu, double epsilon, Direction direction) {
  const double k = 2 * std::exp(direction == Direction::remove ? epsilon : -epsilon);
  const auto call = [mu](double y) {
    if (y <= 0) return 1 - y;
    const double z = std::log(y) / mu;
    return 0.5 * std::erfc((z - mu / 2) / std::sqrt(2.0)) - y * 0.5 * std::erfc((z + mu / 2) / std::sqrt(2.0));
  };
  double sum = 0, step = 1e-3;
  for (double z = -12; z <= 12; z += step) {
    const double weight = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0)) * step, y = std::exp(mu * z - mu * mu / 2);
    const double value = call(k - y);
    sum += weight * (direction == Direction::remove ? value : value - 1 + (k - y));  // the put is the call less the mean, plus the strike
  }
  return direction == Direction::remove ? sum / 2 : std::exp(epsilon) * sum / 2;
}

TEST(Allocation, AgreesWithTheIntegralOverOneOfTwoSteps) {
  for (const double sigma : {0.6, 1.0, 3.0})
    for (const double epsilon : {0.1, 0.7})
      for (const Direction direction : both_directions) {
        const double expected = two_steps(1 / sigma, epsilon, direction);
        const Interval found = allocated(sigma, 2)->delta(direction, at(epsilon));
        EXPECT_NEAR(found.lo, expected, 1e-5 * expected) << sigma << ' ' << epsilon;
        EXPECT_NEAR(found.hi, expected, 1e-5 * expected) << sigma << ' ' << epsilon;
      }
}

TEST(Allocation, OfOneStepIsTheGaussian) {
  const auto loss = allocated(0.8, 1);
  ASSERT_TRUE(loss->gaussian_mu().has_value());
  EXPECT_EQ(loss->delta(Direction::add, at(1)), gaussian_delta(1.0 / at(0.8), at(1)));
}

TEST(Allocation, LiesBelowOneGaussianAndAboveItsShare) {
  for (const double sigma : {0.4, 1.0, 4.0})
    for (const std::uint64_t steps : {2u, 100u})
      for (const double epsilon : {0.0, 0.3, 2.0, 6.0}) {
        const auto loss = allocated(sigma, steps);
        const double count = static_cast<double>(steps);
        for (const Direction direction : both_directions)
          EXPECT_LE(loss->delta(direction, at(epsilon)).lo, gaussian_delta(1 / sigma, epsilon).hi);
        EXPECT_GE(loss->delta(Direction::remove, at(epsilon)).hi * count,
                  gaussian_delta(1 / sigma, epsilon + std::log(count)).lo * (1 - 1e-9));
      }
}

TEST(Allocation, FallsWithSigmaAndEpsilonAndSteps) {
  for (const Direction direction : both_directions) {
    double before = 2;
    for (const double sigma : {0.35, 0.5, 0.9, 1.3, 2.0, 5.0}) {
      const Interval here = allocated(sigma, 20)->delta(direction, at(0.2));
      EXPECT_LE(here.lo, before);
      before = here.hi;
    }
    before = 2;
    for (const double epsilon : {-2.0, -0.5, -0.1, 0.0, 0.1, 0.4, 1.0, 2.0, 4.0}) {
      const Interval here = allocated(0.7, 20)->delta(direction, at(epsilon));
      EXPECT_LE(here.lo, before);
      before = here.hi;
    }
    before = 2;
    for (const std::uint64_t steps : {2u, 4u, 8u, 64u, 512u}) {  // showing half of the steps doubles them
      const Interval here = allocated(0.7, steps)->delta(direction, at(0.5));
      EXPECT_LE(here.lo, before) << steps;
      before = here.hi;
    }
  }
}

// At epsilon = 0 both directions are the total variation; below 0 each is the mirror of the other.
TEST(Allocation, MirrorsItsDirections) {
  const auto loss = allocated(1.2, 6);
  const Interval remove = loss->delta(Direction::remove, at(0)), add = loss->delta(Direction::add, at(0));
  EXPECT_LE(std::max(remove.lo, add.lo), std::min(remove.hi, add.hi));
  const Interval below = loss->delta(Direction::remove, at(-0.4)), above = loss->delta(Direction::add, at(0.4));
  EXPECT_NEAR(below.lo, 1 - std::exp(-0.4) + std::exp(-0.4) * above.lo, 1e-12);
}

// Where a law of many steps would have to reach very far, options answer.
TEST(Allocation, AnswersFarInTheTail) {
  const auto loss = allocated(0.5, 2000);
  for (const double epsilon : {25.0, 30.0}) {
    const Interval value = loss->delta(Direction::remove, at(epsilon)), bound = priced(at(2), 2000, Direction::remove, at(epsilon), 1e-3);
    EXPECT_LE(value.lo, bound.hi) << epsilon;
    EXPECT_GE(value.hi, bound.lo) << epsilon;
    EXPECT_LT(value.hi, 1e-30) << epsilon;
    EXPECT_LE(value.hi, value.lo * 1.01) << epsilon;
  }
}

// Far in the tail, by quadrature over one of two steps at 25 digits.
TEST(AllocationLargeStep, HoldsTwoSteps) {
  struct Case {
    double epsilon, value;
  };
  for (const Case& one : {Case{27.7741194, 1.00000004688322e-12}, {22.9845225, 1.00000007677626e-8}, {18.4376206, 1.00000007779887e-5}}) {
    const Interval value = allocation::large_step_call(1.0 / at(0.3), 2, 2 * std::exp(one.epsilon));
    EXPECT_LE(value.lo, one.value * (1 + 1e-12)) << one.epsilon;
    EXPECT_GE(value.hi, one.value * (1 - 1e-12)) << one.epsilon;
    EXPECT_LE(value.hi, value.lo * (1 + 1e-6)) << one.epsilon;
  }
}

// With little noise two large steps in one epoch are what the value lacks of that of one step, by quadrature over one of two steps at 30
// digits.
TEST(AllocationLargeStep, CountsTwoLargeSteps) {
  struct Case {
    double mu, strike, value;
  };
  for (const Case& one : {Case{8, 6, 0.99984831675666}, {6, 6, 0.99363507158274}, {5, 8, 0.967286529134197}}) {
    const Interval value = allocation::large_step_call(at(one.mu), 2, one.strike);
    EXPECT_LE(value.lo, one.value * (1 + 1e-12)) << one.mu;
    EXPECT_GE(value.hi, one.value * (1 - 1e-12)) << one.mu;
    EXPECT_LE(value.hi, one.value * (1 + 1e-4)) << one.mu;
  }
}

// Where lattices and lines are narrow too, they agree; several summands matter there, so both ends are tested.
TEST(AllocationLargeStep, AgreesWithLinesAndLattices) {
  for (const double mu : {0.8, 1.5, 2.5, 10.0 / 3})
    for (const double steps : {2.0, 10.0, 300.0})
      for (const double epsilon : {1.0, 2.0, 3.0, 5.0, 8.0, 11.0, 14.0}) {
        const double strike = steps * std::exp(epsilon);
        const Interval far = allocation::large_step_call(at(mu), steps, strike);
        if (!(far.hi < 1)) continue;
        const Interval line = allocation::contour_options(at(mu), steps, allocation::Option::call, {&strike, 1}, 1e-6, 0).front();
        EXPECT_LE(far.lo, line.hi) << mu << ' ' << steps << ' ' << epsilon;
        EXPECT_GE(far.hi, line.lo) << mu << ' ' << steps << ' ' << epsilon;
      }
}

TEST(Allocation, InvertsItsProfile) {
  for (const Direction direction : both_directions)
    for (const double delta : {1e-2, 1e-6}) {
      const auto loss = allocated(1, 4);
      const auto epsilon = loss->closed_epsilon(direction, at(delta));
      ASSERT_TRUE(epsilon.has_value());
      EXPECT_LE(epsilon->width(), 3e-6 * epsilon->hi);
      EXPECT_GE(loss->delta(direction, at(epsilon->lo)).hi, delta);
      EXPECT_LE(loss->delta(direction, at(epsilon->hi)).lo, delta);
    }
  EXPECT_EQ(allocated(5, 1000)->closed_epsilon(Direction::remove, at(0.5))->hi, 0);
}

// Noise too small or too large for the lattice, and far tails, are answered by Gaussians.
TEST(Allocation, AnswersExtremeArguments) {
  for (const double sigma : {1e-3, 0.05, 1e6})
    for (const double epsilon : {0.0, 1.0, 1e3, 1e6})
      for (const Direction direction : both_directions) {
        const Interval value = allocated(sigma, 100)->delta(direction, at(epsilon)),
                       log_value = allocated(sigma, 100)->log_delta(direction, at(epsilon));
        EXPECT_LE(value.lo, value.hi);
        EXPECT_LE(log_value.lo, log_value.hi);
        EXPECT_LE(log_value.hi, 1e-9);
      }
  EXPECT_EQ(allocated(1, 10)->delta(Direction::remove, at(infinity)), at(0));
  EXPECT_EQ(allocated(1, 10)->tail().gdp_mu, 1);
}

// The difference of two likelihoods has mass on both sides of 0.
TEST(Allocation, OfAReplacedRecordLiesBetweenRemovalAndTheShownStep) {
  for (const double epsilon : {0.0, 0.4, 1.5}) {
    const Interval replaced = allocation_replace_loss(at(0.7), 12)->delta(Direction::remove, at(epsilon));
    EXPECT_GE(replaced.hi, allocation_loss(at(0.7), 12)->delta(Direction::remove, at(epsilon)).lo);
    EXPECT_LE(replaced.lo, gaussian_delta(1.4, epsilon).hi);
    EXPECT_LE(replaced.width(), 1e-4 * replaced.hi) << epsilon;
  }
}

// The call functions of both distributions on the lattice lie on either side of that of the summand, between lattice points too.
TEST(AllocationLaws, BoundTheCallFunction) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const double s : {0.05, 0.5, 1.0, 2.0, 3.3})
    for (const double share : {0.3, 0.05, 0.02}) {
      const Summand summand(s, 0);
      const double deviation = std::sqrt(std::expm1(s * s)), h = allocation::short_step(share * std::min(deviation, 1 / s));
      for (const bool restricted : {false, true}) {
        const Cut cut{summand.value(-36), 1 + 6 * deviation, restricted, false};
        const auto up = allocation::spread_law(summand, h, cut), down = allocation::contracted_law(summand, h, cut);
        ASSERT_FALSE(up.law.mass.empty());
        const auto call = [&](const allocation::LatticeLaw& law, double y) {
          double sum = 0;
          for (std::size_t i = 0; i < law.law.mass.size(); ++i)
            sum += law.law.mass[i] * std::max(0.0, h * static_cast<double>(law.law.index[i]) + law.origin - y);
          return sum;
        };
        const auto exact = [&](double y, double top) {
          const double all = middle_of(summand.call(y));
          if (!restricted) return all;
          return all - middle_of(summand.call(top)) - (top - y) * middle_of(summand.above(top));
        };
        for (int i = 0; i < 60; ++i) {
          const double y = 1 + deviation * (8 * uniform(random) - 3);
          const double truth_above = exact(y, up.top), truth_below = exact(y, down.top);
          if (y < up.top) {
            EXPECT_GE(call(up, y) + (restricted ? 0 : summand.call(up.top).hi), truth_above * (1 - 1e-9) - 1e-13)
                << s << ' ' << h << ' ' << y;
          }
          if (!down.law.mass.empty() && y < cut.high) {
            EXPECT_LE(call(down, y), truth_below * (1 + 1e-9) + 1e-13) << s << ' ' << h << ' ' << y;
          }
        }
        if (share < 0.1) {
          EXPECT_FALSE(down.law.mass.empty()) << s << ' ' << h;
        }
      }
    }
}

}  // namespace
}  // namespace tradeoff::detail
