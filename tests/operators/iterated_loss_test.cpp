// SPDX-License-Identifier: Apache-2.0
#include "operators/iterated_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "loss/gaussian_profile.h"
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
using test::IsTight;

struct Sampled {
  const char* kind;
  double parameter, rate;
  std::size_t size;
};

LossPointer base_of(const Sampled& one) {
  const std::string kind = one.kind;
  const Interval parameter = kind == "laplace" ? 1.0 / Interval::exactly(one.parameter) : Interval::exactly(one.parameter);
  const LossPointer inner = kind == "gdp"       ? gaussian_loss(parameter, {})
                            : kind == "laplace" ? LossPointer(std::make_shared<LaplaceLoss>(parameter, Citations{}))
                                                : refine(zcdp_bound(parameter));
  return std::make_shared<SampledLoss>(inner, Interval::exactly(one.rate));
}
LossPointer group_of(const Sampled& one) {
  const LossPointer base = base_of(one);
  LossPointer group = iterated_loss(base, one.size);
  EXPECT_NE(group, nullptr);
  return group;
}

// By mpmath with 32 digits: h iterated from its definition, its inverse by bisection, delta at the level with this loss.
TEST(IteratedLoss, HoldsTheIteratedCurve) {
  struct Row {
    Sampled one;
    double epsilon;
    const char* delta;
  };
  const std::vector<Row> rows{
      {{"gdp", 1, 0.01, 3}, 0.02, "0.0071040336662225820483"},    {{"gdp", 1, 0.01, 3}, 0.05, "0.0039490197965231010459"},
      {{"gdp", 1, 0.01, 3}, 0.5, "0.000062776688736716973295"},   {{"gdp", 1, 0.01, 3}, 2, "2.5068394465578322582e-7"},
      {{"gdp", 1, 0.01, 3}, 6, "3.1878477414831215306e-11"},      {{"gdp", 0.8, 0.3, 2}, 0.1, "0.15716278452231005457"},
      {{"gdp", 0.8, 0.3, 2}, 0.7, "0.056907418937262749373"},     {{"gdp", 0.8, 0.3, 2}, 2, "0.0051692910775837757616"},
      {{"gdp", 0.8, 0.3, 2}, 5, "4.4741438998023904325e-6"},      {{"gdp", 2, 0.05, 7}, 0.1, "0.22801537449178321702"},
      {{"gdp", 2, 0.05, 7}, 1, "0.1906255820057417625"},          {{"gdp", 2, 0.05, 7}, 5, "0.14154574261171319793"},
      {{"gdp", 2, 0.05, 7}, 15, "0.09045454014521544928"},        {{"laplace", 2, 0.1, 2}, 0.02, "0.036712737645849706982"},
      {{"laplace", 2, 0.1, 2}, 0.06, "0.022346190889758100435"},  {{"laplace", 2, 0.1, 2}, 0.11, "0.0051670407948744472023"},
      {{"laplace", 2, 0.1, 2}, 0.125, "0.00022928956142131134322"}, {{"laplace", 1.5, 0.5, 3}, 0.05, "0.39638640462894715385"},
      {{"laplace", 1.5, 0.5, 3}, 0.3, "0.31480608897407007782"},  {{"laplace", 1.5, 0.5, 3}, 0.9, "0.097125241900025399832"},
      {{"laplace", 1.5, 0.5, 3}, 1.15, "0.0051630915923557051741"}, {{"zcdp", 0.1, 0.1, 3}, 0.02, "0.070290052264997162571"},
      {{"zcdp", 0.1, 0.1, 3}, 0.3, "0.011243222224652586226"},    {{"zcdp", 0.1, 0.1, 3}, 2, "5.6697774120593771687e-8"},
      {{"zcdp", 0.5, 0.4, 2}, 0.2, "0.38521688230774303921"},     {{"zcdp", 0.5, 0.4, 2}, 1, "0.23874782533814113719"},
      {{"zcdp", 0.5, 0.4, 2}, 4, "0.014362632034657927266"}};
  for (const Row& row : rows) {
    // The decimals of the golden values and their doubles differ by less than the slope of delta allows for.
    const LossPointer group = group_of(row.one);
    const Interval at = test::golden_interval(row.epsilon);
    EXPECT_THAT(group->delta(Direction::remove, at), Encloses(row.delta)) << row.one.kind << " " << row.epsilon;
    EXPECT_THAT(group->delta(Direction::remove, at), IsTight(1e-10)) << row.one.kind << " " << row.epsilon;
  }
}
