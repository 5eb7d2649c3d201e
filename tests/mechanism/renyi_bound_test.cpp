// SPDX-License-Identifier: Apache-2.0
#include "mechanism/renyi_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

// [renyi-conversion]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

const FamilyLoss& family(const LossPointer& loss) { return dynamic_cast<const FamilyLoss&>(*loss); }

/// The least exponent over a fine grid of orders: never below the minimum, and close to it.
template <class Cumulant>
double on_a_grid(Cumulant&& cumulant, double largest, double epsilon) {
  double best = 0;
  for (int i = 0; i <= 200000; ++i) {
    const double s = largest * std::exp(-20.0 * i / 200000);
    best = std::min(best, cumulant(s) - s * epsilon + s * std::log(s) - (1 + s) * std::log1p(s));
  }
  return best;
}

TEST(RenyiBound, ZeroConcentratedPrivacyAgainstAGrid) {
  for (const double rho : {0.001, 0.1, 2.0})
    for (const double epsilon : {0.0, 0.2, 1.0, 6.0}) {
      const Interval found = family(zcdp_bound(Interval::exactly(rho))).log_value(Interval::exactly(epsilon));
      const double grid = on_a_grid([&](double s) { return rho * s * (s + 1); }, 1e5, epsilon);
      EXPECT_LE(found.lo, grid);
      EXPECT_NEAR(found.hi, grid, 1e-6 * (1 - grid));
      EXPECT_LT(found.width(), 1e-12 * (1 - grid));
    }
}

TEST(RenyiBound, ListsOfOrdersAgainstAGrid) {
  const LossPointer bound = renyi_bound({{Interval::exactly(9), Interval::exactly(0.5)},
                                         {Interval::exactly(2), Interval::exactly(0.125)},
                                         {Interval::exactly(5), Interval::exactly(4)},  // implied by its neighbours
                                         {Interval::exactly(33), Interval::exactly(3)}});
  const auto hull = [](double s) {
    const double corners[4][2] = {{0, 0}, {1, 0.125}, {8, 4}, {32, 96}};
    for (int i = 1; i < 4; ++i)
      if (s <= corners[i][0])
        return corners[i - 1][1] + (corners[i][1] - corners[i - 1][1]) * (s - corners[i - 1][0]) / (corners[i][0] - corners[i - 1][0]);
    return corners[3][1];
  };
  for (const double epsilon : {0.0, 0.1, 0.3, 0.5, 0.9, 2.0, 5.0}) {
    const Interval found = family(bound).log_value(Interval::exactly(epsilon));
    const double grid = on_a_grid(hull, 32, epsilon);
    EXPECT_LE(found.lo, grid) << epsilon;
    EXPECT_NEAR(found.hi, grid, 1e-5 * (1 - grid)) << epsilon;
  }
  // Every single order is a conversion, and the answer is at most the best of them.
  for (const auto& [order, divergence] : {std::pair(2.0, 0.125), std::pair(9.0, 0.5), std::pair(33.0, 3.0)}) {
    const double s = order - 1, epsilon = 0.7;
    EXPECT_LE(family(bound).log_value(Interval::exactly(epsilon)).lo,
              s * (divergence - epsilon) + s * std::log(s) - order * std::log(order) + 1e-12);
  }
}

// epsilon is rho + 2 sqrt(rho log(1/delta)) up to a logarithm: rho itself, where a root of rho is below its last digit.
TEST(RenyiBound, LargestRho) {
  for (const double rho : {1e100, 1e184, 1e250, 1e300, 1e308, 1.79e308}) {
    const LossPointer bound = zcdp_bound(Interval::exactly(rho));
    const Interval before = bound->log_delta(Direction::remove, Interval::exactly(rho * (1 - 1e-14)));
    EXPECT_GE(before.lo, -1e-9) << rho;
    if (rho * (1 + 1e-14) < infinity) {
      const Interval after = bound->log_delta(Direction::remove, Interval::exactly(rho * (1 + 1e-14)));
      EXPECT_LE(after.hi, -1e60) << rho;
      EXPECT_LE(after.lo, after.hi) << rho;
    }
    EXPECT_LE(before.lo, before.hi) << rho;
  }
}

TEST(RenyiBound, ConvexInTheExponentialOfEpsilon) {
  const LossPointer bound = renyi_bound({{Interval::exactly(1.5), Interval::exactly(0.1)}, {Interval::exactly(20), Interval::exactly(1)}});
  const auto value = [&](double x) { return bound->delta(Direction::remove, Interval::exactly(std::log(x))); };
  for (double x = 1; x < 30; x *= 1.05) EXPECT_LE(2 * value(x * 1.02).lo, value(x).hi + value(x * 1.04).hi + 1e-13);
}

TEST(RenyiBound, RefusesInvalidDivergences) {
  EXPECT_THROW((void)renyi_bound({}), DomainError);
  EXPECT_THROW((void)renyi_bound({{Interval::exactly(1), Interval::exactly(1)}}), DomainError);
  EXPECT_THROW((void)renyi_bound({{Interval::exactly(2), Interval::exactly(-1)}}), DomainError);
  EXPECT_THAT(zcdp_bound(Interval::exactly(0))->delta(Direction::remove, Interval::exactly(0)), Encloses(0.0));
}

// A Gaussian of mu has divergence mu^2 a/2 at order a, so the bound holds for it; it also holds with decimals that are not doubles.
TEST(RenyiBound, CoversTheGaussian) {
  const Interval tenth{std::nextafter(0.1, 0), std::nextafter(0.1, 1)};
  const LossPointer bound = renyi_bound({{1.0 + tenth, 0.5 * (1.0 + tenth)}, {Interval::exactly(4), Interval::exactly(2)}});
  for (const double epsilon : {0.5, 1.5, 3.0}) {
    const double truth =
        0.5 * std::erfc((epsilon - 0.5) / std::sqrt(2)) - std::exp(epsilon) * 0.5 * std::erfc((epsilon + 0.5) / std::sqrt(2));
    EXPECT_GE(bound->delta(Direction::remove, Interval::exactly(epsilon)).lo, truth);
  }
  EXPECT_EQ(bound->capabilities(Direction::remove).renyi_bound->cumulant(5).lo, infinity);
  EXPECT_THAT(bound->capabilities(Direction::remove).renyi_bound->cumulant(3), Encloses(6.0));
}

}  // namespace
}  // namespace tradeoff::detail
