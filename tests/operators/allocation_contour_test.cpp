// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "numeric/arithmetic.h"
#include "operators/allocation/contour.h"
#include "operators/allocation/sum_line.h"
#include "support/matchers.h"

// [allocation-contour]
namespace tradeoff::detail::allocation {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;

/// delta at an interval of epsilon, by lines alone.
Interval delta_by_lines(Interval mu, double steps, bool remove, Interval epsilon, double wanted) {
  const Interval strike = Interval::exactly(steps) * exp(remove ? epsilon : -epsilon);
  const std::array ends{strike.lo, strike.hi};
  const std::vector<Interval> values = contour_options(mu, steps, remove ? Option::call : Option::put, ends, wanted, 0);
  const Interval option = remove ? Interval{values[1].lo, values[0].hi} : Interval{values[0].lo, values[1].hi};
  return remove ? option : exp(epsilon) * option;
}

TEST(AllocationContour, HoldsGoldenEpochs) {
  int narrow = 0;
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_delta")) {
    const auto& inputs = one.at("inputs");
    const auto steps = inputs.at("steps").get<double>();
    const Interval mu = 1.0 / golden_interval(inputs.at("sigma")), epsilon = golden_interval(inputs.at("eps"));
    for (const double wanted : {1e-1, 1e-3, 2e-7}) {
      const Interval value = delta_by_lines(mu, steps, inputs.at("direction") == "remove", epsilon, wanted);
      EXPECT_THAT(value, Encloses(one.at("value").get<std::string>())) << one.at("id") << ' ' << wanted;
      if (wanted == 2e-7 && value.hi < value.lo * (1 + 1e-6)) ++narrow;
    }
  }
  EXPECT_GE(narrow, 18);
}

TEST(AllocationContour, HoldsGoldenReplacedRecords) {
  for (const auto& one : golden_group("sampling_schemes.json", "allocate_replace_delta")) {
    const auto& inputs = one.at("inputs");
    const Interval mu = 1.0 / golden_interval(inputs.at("sigma"));
    const Interval value = contour_excess(mu, inputs.at("steps").get<double>(), exp(golden_interval(inputs.at("eps"))), 1e-4);
    EXPECT_THAT(value, Encloses(one.at("value").get<std::string>())) << one.at("id");
  }
}

TEST(AllocationContour, AgreesWithLattices) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  int useful = 0;
  for (int i = 0; i < 30; ++i) {
    const double mu = std::exp(-2.5 + 3 * unit(random)), steps = std::floor(std::exp(2.5 + 3 * unit(random)));
    const bool call = unit(random) < 0.5;
    const double deviation = std::sqrt(std::expm1(mu * mu) / steps), epsilon = deviation * 5 * unit(random);
    const std::array strikes{steps * std::exp(call ? epsilon : -epsilon)};
    const Option option = call ? Option::call : Option::put;
    const Interval line = contour_options(Interval::exactly(mu), steps, option, strikes, 1e-6, 0).front();
    const Interval both = lognormal_options(Interval::exactly(mu), steps, option, strikes, 1e-3, 0).front();
    EXPECT_LE(line.lo, both.hi) << mu << ' ' << steps << ' ' << epsilon << ' ' << call;
    EXPECT_GE(line.hi, both.lo) << mu << ' ' << steps << ' ' << epsilon << ' ' << call;
    if (line.hi < line.lo * (1 + 1e-5)) ++useful;
  }
  EXPECT_GE(useful, 15);
}

TEST(AllocationContour, OfManyStrikesFallsAndIsConvex) {
  const double steps = 1000;
  std::vector<double> strikes;
  for (int i = 0; i <= 40; ++i) strikes.push_back(steps + 4 * i);
  const auto values = contour_options(Interval::exactly(1), steps, Option::call, strikes, 1e-6, 0);
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    EXPECT_LT(values[i].hi, values[i].lo * (1 + 1e-5));
    EXPECT_LE(values[i + 1].lo, values[i].hi);
    EXPECT_LE(2 * values[i].lo, values[i - 1].hi + values[i + 1].hi);
  }
}

// One large summand makes the value; a line for all of them is a hundredth wide. The truth by mpmath, on two lines of 40 digits.
TEST(AllocationContour, HoldsAValueMadeByOneLargeSummand) {
  const Interval value = delta_by_lines(Interval::exactly(1), 10000, true, Interval::exactly(0.125), 2e-7);
  EXPECT_THAT(value, Encloses("1.814682261495e-12"));
  EXPECT_LT(value.hi, value.lo * (1 + 2e-6));
}

// The law may be restricted, capped or split: the same number.
TEST(AllocationContour, SeveralWidthsOverlap) {
  for (const double sigma : {0.5, 0.7, 1.0, 3.0})
    for (const double steps : {100.0, 10000.0})
      for (const double epsilon : {0.01, 0.1, 0.5, 2.0}) {
        Interval all{0, infinity};
        for (const double wanted : {1e-1, 1e-3, 1e-6}) {
          const Interval value = delta_by_lines(1.0 / Interval::exactly(sigma), steps, true, Interval::exactly(epsilon), wanted);
          EXPECT_LE(value.lo, value.hi);
          EXPECT_LE(std::max(all.lo, value.lo), std::min(all.hi, value.hi)) << sigma << ' ' << steps << ' ' << epsilon << ' ' << wanted;
          all = {std::max(all.lo, value.lo), std::min(all.hi, value.hi)};
        }
      }
}

}  // namespace
}  // namespace tradeoff::detail::allocation
