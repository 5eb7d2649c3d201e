// SPDX-License-Identifier: Apache-2.0
#include "numeric/disc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <random>

// [disc-arithmetic]
namespace tradeoff::detail {
namespace {

using Complex = std::complex<long double>;

/// A point of the boundary; the extremes of analytic functions are there.
Complex point_of(Disc disc, int turn) {
  const long double angle = std::numbers::pi_v<long double> * static_cast<long double>(turn) / 8;
  return static_cast<long double>(disc.centre) + std::polar(static_cast<long double>(disc.radius), angle);
}

/// The distance from the centre exceeds the radius by no more than the roundings of this test.
void expect_inside(const Complex& value, Disc disc, const char* what) {
  const long double away = std::abs(value - static_cast<long double>(disc.centre));
  EXPECT_LE(away, static_cast<long double>(disc.radius) * (1 + 1e-15L)) << what << " around " << disc.centre;
}

class DiscTest : public ::testing::Test {
 protected:
  Disc draw(double least, double most, double largest_radius) {
    std::uniform_real_distribution<double> centre(least, most), exponent(-40, std::log(largest_radius));
    return {centre(source_), std::exp(exponent(source_))};
  }
  std::mt19937_64 source_{20261118};
};

TEST_F(DiscTest, HoldsSumsProductsAndQuotients) {
  for (int i = 0; i < 2000; ++i) {
    const Disc a = draw(-5, 5, 2), b = draw(-5, 5, 2);
    for (int j = 0; j < 16; ++j) {
      const Complex x = point_of(a, j), y = point_of(b, 3 * j + i);
      expect_inside(x + y, a + b, "sum");
      expect_inside(x - y, a - b, "difference");
      expect_inside(x * y, a * b, "product");
      if (const Disc quotient = a / b; quotient.radius < infinity) expect_inside(x / y, quotient, "quotient");
    }
    EXPECT_EQ((a / b).radius<infinity, std::abs(b.centre)> b.radius);
  }
}

TEST_F(DiscTest, HoldsFunctions) {
  for (int i = 0; i < 2000; ++i) {
    const Disc a = draw(-20, 20, 1), b = draw(0.01, 4, 1), c = draw(-0.9, 3, 0.5);
    for (int j = 0; j < 16; ++j) {
      expect_inside(std::exp(point_of(a, j)), exp(a), "exp");
      expect_inside(std::exp(point_of(a, j)) - 1.0L, expm1(a), "expm1");
      if (const Disc value = log(b); value.radius < infinity) expect_inside(std::log(point_of(b, j)), value, "log");
      if (const Disc value = log1p(c); value.radius < infinity) expect_inside(std::log(1.0L + point_of(c, j)), value, "log1p");
    }
  }
}

TEST_F(DiscTest, SaysNothingWhereNothingHolds) {
  const Disc around_zero{0.5, 1}, unknown{0, infinity};
  for (const Disc none : {1.0 / around_zero, log(around_zero), log1p(Disc{-1, 0.5}), exp(Disc{1e4, 0}), unknown + around_zero,
                          unknown * around_zero, exp(unknown), expm1(unknown), log(unknown), 1.0 / Disc{1e-200, 0}})
    EXPECT_EQ(none.radius, infinity);
  EXPECT_GT(exp(Disc{-2000, 0}).radius, 0) << "an exponential that underflows";
  EXPECT_GT((Disc{1e-200, 0} * Disc{1e-200, 0}).radius, 0) << "a product that underflows";
}

}  // namespace
}  // namespace tradeoff::detail
