// SPDX-License-Identifier: Apache-2.0
#include "transform/characteristic_function.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>

// [contour-rounding]
namespace tradeoff::detail {
namespace {

/// The larger error of the two summands at one x, in units u x^2; infinite if the cosine alone errs by more than 8u.
double error_units(double x) {
  std::array<double, oscillation_lanes> weights{1}, losses{x};
  const OscillationSum sum = sum_oscillations(weights.data(), losses.data(), weights.size(), 1);
  mpfr_t argument, sine, cosine;
  mpfr_inits2(200, argument, sine, cosine, nullptr);
  mpfr_set_d(argument, x, MPFR_RNDN);
  mpfr_sin_cos(sine, cosine, argument, MPFR_RNDN);
  mpfr_sub(sine, sine, argument, MPFR_RNDN);
  mpfr_sub_ui(cosine, cosine, 1, MPFR_RNDN);
  mpfr_sub_d(sine, sine, sum.sine, MPFR_RNDN);
  mpfr_sub_d(cosine, cosine, sum.cosine, MPFR_RNDN);
  const double error = std::fmax(std::fabs(mpfr_get_d(sine, MPFR_RNDN)), std::fabs(mpfr_get_d(cosine, MPFR_RNDN)));
  const bool cosine_is_sharp = std::fabs(mpfr_get_d(cosine, MPFR_RNDN)) <= 8 * 0x1p-53;
  mpfr_clears(argument, sine, cosine, nullptr);
  return cosine_is_sharp ? error / (x * x * 0x1p-53) : HUGE_VAL;
}

TEST(CharacteristicValue, ErrsByFewUnitsOfTheSquare) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-30, std::log(oscillation_limit));
  for (int i = 0; i < 40000; ++i) {
    const double x = std::exp(exponent(random)) * (i % 2 == 0 ? 1 : -1);
    ASSERT_LE(error_units(x), oscillation_units) << x;
  }
}

TEST(CharacteristicValue, ErrsLittleAtTheTurnsOfTheReduction) {
  for (int quarter = 1; quarter < 4000; ++quarter)
    for (const double away : {-1e-3, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-3})
      ASSERT_LE(error_units(quarter * std::numbers::pi / 4 * (1 + away)), oscillation_units) << quarter;
}

TEST(CharacteristicValue, AddsAllLanes) {
  std::array<double, 2 * oscillation_lanes> weights{}, losses{};
  double cosine = 0, sine = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    weights[j] = 1.0 / static_cast<double>(j + 1);
    losses[j] = 0.1 * static_cast<double>(j) - 0.7;
    cosine += weights[j] * (std::cos(3 * losses[j]) - 1);
    sine += weights[j] * (std::sin(3 * losses[j]) - 3 * losses[j]);
  }
  const OscillationSum sum = sum_oscillations(weights.data(), losses.data(), weights.size(), 3);
  EXPECT_NEAR(sum.cosine, cosine, 1e-14);
  EXPECT_NEAR(sum.sine, sine, 1e-14);
}

}  // namespace
}  // namespace tradeoff::detail
