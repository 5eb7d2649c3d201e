// SPDX-License-Identifier: Apache-2.0
#include "operators/iterated_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/group.h"
#include "operators/refine.h"
#include "operators/subsampled.h"
#include "support/matchers.h"
#include "support/profile_only.h"

// [group-transform] [group-table]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_interval;
using test::IsTight;

/// A symmetric pair on a sample of fixed size, and a group of so many records. Parameters are exact decimals.
struct Sampled {
  const char* kind;
  const char* parameter;
  const char* rate;
  std::size_t size;
};

LossPointer base_of(const Sampled& one) {
  const std::string kind = one.kind;
  const Interval parameter = golden_interval(one.parameter);
  const LossPointer inner = kind == "gdp"       ? gaussian_loss(parameter)
                            : kind == "laplace" ? std::make_shared<LaplaceLoss>(1.0 / parameter)
                                                : refine(zcdp_bound(parameter));
  return std::make_shared<SampledLoss>(inner, golden_interval(one.rate));
}
LossPointer group_of(const Sampled& one) {
  LossPointer group = iterated_loss(base_of(one), one.size);
  if (group == nullptr) throw std::logic_error("no closed form");
  return group;
}

// By mpmath with 32 digits: h iterated from its definition, its inverse by bisection, delta at the level with this loss.
TEST(IteratedLoss, HoldsTheIteratedCurve) {
  struct Row {
    Sampled one;
    const char* epsilon;
    const char* delta;
  };
  const std::vector<Row> rows{
      {{"gdp", "1", "0.01", 3}, "0.02", "0.0071040336662225820483"},
      {{"gdp", "1", "0.01", 3}, "0.05", "0.0039490197965231010459"},
      {{"gdp", "1", "0.01", 3}, "0.5", "0.000062776688736716973295"},
      {{"gdp", "1", "0.01", 3}, "2", "2.5068394465578322582e-7"},
      {{"gdp", "1", "0.01", 3}, "6", "3.1878477414831215306e-11"},
      {{"gdp", "0.8", "0.3", 2}, "0.1", "0.15716278452231005457"},
      {{"gdp", "0.8", "0.3", 2}, "0.7", "0.056907418937262749373"},
      {{"gdp", "0.8", "0.3", 2}, "2", "0.0051692910775837757616"},
      {{"gdp", "0.8", "0.3", 2}, "5", "4.4741438998023904325e-6"},
      {{"laplace", "2", "0.1", 2}, "0.02", "0.036712737645849706982"},
      {{"laplace", "2", "0.1", 2}, "0.06", "0.022346190889758100435"},
      {{"laplace", "2", "0.1", 2}, "0.11", "0.0051670407948744472023"},
      {{"laplace", "2", "0.1", 2}, "0.125", "0.00022928956142131134322"},
      {{"laplace", "1.5", "0.5", 3}, "0.05", "0.39638640462894715385"},
      {{"laplace", "1.5", "0.5", 3}, "0.3", "0.31480608897407007782"},
      {{"laplace", "1.5", "0.5", 3}, "0.9", "0.097125241900025399832"},
      {{"laplace", "1.5", "0.5", 3}, "1.15", "0.0051630915923557051741"},
      {{"zcdp", "0.1", "0.1", 3}, "0.02", "0.070290052264997162571"},
      {{"zcdp", "0.1", "0.1", 3}, "0.3", "0.011243222224652586226"},
      {{"zcdp", "0.1", "0.1", 3}, "2", "5.6697774120593771687e-8"},
      {{"zcdp", "0.5", "0.4", 2}, "0.2", "0.38521688230774303921"},
      {{"zcdp", "0.5", "0.4", 2}, "1", "0.23874782533814113719"},
      {{"zcdp", "0.5", "0.4", 2}, "4", "0.014362632034657927266"},
      {{"gdp", "2", "0.05", 7}, "0.1", "0.22801537449178321702"},
      {{"gdp", "2", "0.05", 7}, "1", "0.1906255820057417625"},
      {{"gdp", "2", "0.05", 7}, "5", "0.14154574261171319793"},
      {{"gdp", "2", "0.05", 7}, "15", "0.09045454014521544928"},
  };
  for (const Row& row : rows) {
    const LossPointer group = group_of(row.one);
    const Interval at = golden_interval(row.epsilon), found = group->delta(Direction::remove, at);
    EXPECT_THAT(found, Encloses(row.delta)) << row.one.kind << " " << row.epsilon;
    EXPECT_THAT(found, IsTight(1e-10)) << row.one.kind << " " << row.epsilon;
    const Interval log_found = group->log_delta(Direction::remove, at);
    EXPECT_THAT(log_found, Encloses(log(found))) << row.one.kind << " " << row.epsilon;
  }
}

std::vector<Sampled> examples() {
  return {{"gdp", "1", "0.01", 3},     {"gdp", "0.3", "0.2", 2},     {"gdp", "2", "0.05", 7},     {"gdp", "3", "0.9", 4},
          {"laplace", "5", "0.05", 2}, {"laplace", "0.7", "0.4", 3}, {"laplace", "2", "0.3", 6},  {"zcdp", "0.1", "0.1", 3},
          {"zcdp", "0.5", "0.4", 2},   {"zcdp", "0.02", "0.7", 5},   {"zcdp", "0.001", "0.5", 4}, {"gdp", "1", "1e-4", 3}};
}

// Any level gives a bound of delta from below, and the level of the loss the value itself: the table against the chains of the curve.
TEST(IteratedLoss, ProfileAndCurveAgree) {
  std::mt19937_64 source(20261118);
  for (const Sampled& one : examples()) {
    const LossPointer group = group_of(one);
    const double scale = 0.02 + 3 * group->delta(Direction::remove, Interval::exactly(0)).hi;
    for (int i = 0; i < 60; ++i) {
      const double epsilon = scale * std::exponential_distribution<double>(0.7)(source);
      const Interval found = group->delta(Direction::remove, Interval::exactly(epsilon)), ratio = exp(Interval::exactly(epsilon));
      ASSERT_LE(found.lo, found.hi);
      const auto test = group->test_at(Direction::remove, epsilon);
      ASSERT_TRUE(test.has_value());
      EXPECT_THAT(test->true_positive - ratio * test->false_positive, Encloses(found)) << one.kind << one.rate << " " << epsilon;
      for (const double alpha : {1e-9, 1e-4, 0.01, 0.2, 0.5}) {
        const Interval beta =
            *group->capabilities(Direction::remove).closed_forms->closed_beta(Direction::remove, Interval::exactly(alpha));
        EXPECT_GE(found.hi, (1.0 - beta - ratio * alpha).lo) << one.kind << one.rate << " " << epsilon << " " << alpha;
      }
    }
  }
}

// The iteration of the profile alone, by searches, is another program for the same curve.
TEST(IteratedLoss, AgreesWithTheIterationOfTheProfile) {
  for (const Sampled& one : examples()) {
    if (one.size > 4) continue;
    const LossPointer group = group_of(one);
    const LossPointer slow = group_loss(std::make_shared<test::ProfileOnly>(base_of(one), test::Kept{.tail = true}), one.size);
    for (const double epsilon : {0.0, 0.03, 0.4, 2.0, -0.2}) {
      const Interval found = group->delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_THAT(slow->delta(Direction::remove, Interval::exactly(epsilon)), Encloses(found)) << one.kind << one.rate << " " << epsilon;
    }
  }
}

// Close points, so that panels, their borders and the places between pieces are all met: delta falls, and is convex in e^epsilon.
TEST(IteratedLoss, ProfileIsConvex) {
  for (const Sampled& one : examples()) {
    const LossPointer group = group_of(one);
    const double end = std::min(4.0, group->tail().zero_from), step = end / 400;
    std::vector<Interval> values;
    for (int i = 0; i < 400; ++i) values.push_back(group->delta(Direction::remove, Interval::exactly(i * step)));
    for (int i = 1; i + 1 < 400; ++i) {
      const auto at = [&](int j) { return exp(Interval::exactly(j * step)); };
      const auto k = static_cast<std::size_t>(i);
      const Interval share = (at(i) - at(i - 1)) / (at(i + 1) - at(i - 1));
      EXPECT_LE(values[k].lo, ((1.0 - share) * values[k - 1] + share * values[k + 1]).hi) << one.kind << one.rate << " " << i * step;
      EXPECT_LE(values[k + 1].lo, values[k].hi);
    }
  }
}

// Far in the tail the value is below the smallest number, and its logarithm is known.
TEST(IteratedLoss, FarTails) {
  for (const Sampled& one : examples()) {
    const LossPointer group = group_of(one);
    double before = 0;
    for (const double epsilon : {20.0, 50.0, 120.0, 400.0, 1000.0, 4096.0}) {
      const Interval value = group->delta(Direction::remove, Interval::exactly(epsilon)),
                     logarithm = group->log_delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_LE(value.lo, value.hi);
      EXPECT_LE(logarithm.lo, before);
      EXPECT_LE(value.hi, exp(logarithm).hi * (1 + 1e-6) + 1e-300) << one.kind << one.rate << " " << epsilon;
      if (logarithm.lo > -infinity) {
        EXPECT_LT(logarithm.width(), 1e-5 * std::abs(logarithm.lo) + 1e-9) << one.kind << one.rate << " " << epsilon;
      }
      before = logarithm.hi;
    }
  }
}

// [poisson-subsampling] Removal is the worse order of a Poisson sample; its symmetric curve is that of a sample of fixed size.
TEST(IteratedLoss, GroupsOfPoissonSamples) {
  const LossPointer poisson = std::make_shared<PoissonLoss>(gaussian_loss(Interval::exactly(1)), Interval::exactly(0.25));
  const LossPointer fixed = std::make_shared<SampledLoss>(gaussian_loss(Interval::exactly(1)), Interval::exactly(0.25));
  const LossPointer one = group_loss(poisson, 3), other = group_loss(fixed, 3);
  for (const double epsilon : {0.0, 0.5, 3.0})
    EXPECT_THAT(one->delta(Direction::remove, Interval::exactly(epsilon)),
                Encloses(other->delta(Direction::remove, Interval::exactly(epsilon))));
}

TEST(IteratedLoss, OnlyForKnownCurves) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  EXPECT_EQ(iterated_loss(std::make_shared<test::ProfileOnly>(gaussian), 3), nullptr);
  EXPECT_EQ(iterated_loss(std::make_shared<PoissonLoss>(gaussian, Interval::exactly(0.25)), 3), nullptr) << "not symmetric";
}

}  // namespace
}  // namespace tradeoff::detail
