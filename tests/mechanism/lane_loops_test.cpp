// SPDX-License-Identifier: Apache-2.0
#include "numeric/lane_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "numeric/conversions.h"
#include "transform/characteristic_function.h"

// clang-format off: the second file opens a namespace that would hide names from the first
// The same loops compiled for one register width each, independent of the processor. [contour-rounding]
#define TRADEOFF_EACH_LEVEL                         \
  using namespace ::tradeoff;                  /* NOLINT */ \
  using namespace ::tradeoff::detail;          /* NOLINT */ \
  using namespace ::tradeoff::detail::numeric; /* NOLINT */

#undef TRADEOFF_CLONES
#if defined(__x86_64__)
#define TRADEOFF_CLONES __attribute__((target("avx2")))
namespace avx2 {
TRADEOFF_EACH_LEVEL
#include "transform/characteristic_function.cpp"
#include "numeric/lane_loops.cpp"
}  // namespace avx2
#undef TRADEOFF_CLONES
#define TRADEOFF_CLONES __attribute__((target("avx512f")))
namespace avx512 {
TRADEOFF_EACH_LEVEL
#include "transform/characteristic_function.cpp"
#include "numeric/lane_loops.cpp"
}  // namespace avx512
#undef TRADEOFF_CLONES
#endif
#define TRADEOFF_CLONES
namespace plain {
TRADEOFF_EACH_LEVEL
#include "transform/characteristic_function.cpp"
#include "numeric/lane_loops.cpp"
}  // namespace plain
// clang-format on

namespace tradeoff::detail {
namespace {

using numeric::lane_count;

struct Level {
  const char* name;
  OscillationSum (*oscillations)(const double*, const double*, std::size_t, double);
  numeric::TurnedSums (*turned)(const numeric::Turning&);
  double (*cell)(const numeric::Cells&);
  double (*largest)(const numeric::Exponents&);
  double (*exponentials)(const numeric::Exponents&, double);
  numeric::PolarSum (*polar)(const numeric::PolarTerms&);
};

/// The widths that this processor supports.
std::vector<Level> levels() {
  std::vector<Level> found{{"plain", plain::tradeoff::detail::sum_oscillations, plain::tradeoff::detail::numeric::turned_sums,
                            plain::tradeoff::detail::numeric::largest_cell, plain::tradeoff::detail::numeric::largest_exponent,
                            plain::tradeoff::detail::numeric::sum_of_exponentials, plain::tradeoff::detail::numeric::sum_of_polar_terms}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    found.push_back({"avx2", avx2::tradeoff::detail::sum_oscillations, avx2::tradeoff::detail::numeric::turned_sums,
                     avx2::tradeoff::detail::numeric::largest_cell, avx2::tradeoff::detail::numeric::largest_exponent,
                     avx2::tradeoff::detail::numeric::sum_of_exponentials, avx2::tradeoff::detail::numeric::sum_of_polar_terms});
  if (__builtin_cpu_supports("avx512f"))
    found.push_back({"avx512", avx512::tradeoff::detail::sum_oscillations, avx512::tradeoff::detail::numeric::turned_sums,
                     avx512::tradeoff::detail::numeric::largest_cell, avx512::tradeoff::detail::numeric::largest_exponent,
                     avx512::tradeoff::detail::numeric::sum_of_exponentials, avx512::tradeoff::detail::numeric::sum_of_polar_terms});
#endif
  return found;
}

std::vector<double> random_column(std::mt19937_64& random, std::size_t count, double size) {
  std::uniform_real_distribution<double> spread(-size, size);
  std::vector<double> column(count);
  for (double& one : column) one = spread(random);
  return column;
}

// Lanes and the order of summation are fixed and no product is fused, so every width gives the same bits: a certificate that holds on one
// machine holds on all.
TEST(LaneLoops, AreTheSameOnEveryWidth) {
  std::mt19937_64 random(20261115);
  for (int trial = 0; trial < 500; ++trial) {
    const std::size_t blocks = 1 + random() % 40, count = blocks * lane_count;
    const auto weights = random_column(random, 2 * count + 1, 1), losses = random_column(random, 2 * count + 1, trial % 2 == 0 ? 1e-4 : 30),
               more = random_column(random, 2 * count + 1, 5), first = random_column(random, 2 * lane_count, 1);
    const double t = std::ldexp(1.0, static_cast<int>(random() % 16)) / 7;
    const numeric::Turning turning{weights.data(), more.data(), blocks, first.data(), t};
    const numeric::Cells cells{t, -t, 0.1, weights.data(), losses.data(), more.data(), weights.data(), count - random() % lane_count};
    const OscillationSum sum = sum_oscillations(weights.data(), losses.data(), count, t);
    const numeric::TurnedSums turned = numeric::turned_sums(turning);
    const double cell = numeric::largest_cell(cells);
    for (const Level& level : levels()) {
      const OscillationSum other = level.oscillations(weights.data(), losses.data(), count, t);
      const numeric::TurnedSums other_turned = level.turned(turning);
      EXPECT_EQ(sum.cosine, other.cosine) << level.name;
      EXPECT_EQ(sum.sine, other.sine) << level.name;
      EXPECT_EQ(turned.profile, other_turned.profile) << level.name;
      EXPECT_EQ(turned.fall, other_turned.fall) << level.name;
      EXPECT_EQ(cell, level.cell(cells)) << level.name;
    }
  }
}

/// Columns of random terms, some of them far below the others.
struct RandomTerms {
  std::vector<double> constant, one, two, three, angle, first, second;
  double p, q;
  std::size_t count;

  explicit RandomTerms(std::mt19937_64& random) : count(1 + random() % 300) {
    constant = random_column(random, count, random() % 2 == 0 ? 20 : 900);
    one = random_column(random, count, 3);
    two = random_column(random, count, 3);
    three = random_column(random, count, 1);
    angle = random_column(random, count, 3);
    first = random_column(random, count, 1);
    second = random_column(random, count, 1);
    p = random_column(random, 1, 50)[0];
    q = random_column(random, 1, 50)[0];
  }
  [[nodiscard]] numeric::Exponents exponents(std::size_t slopes) const {
    return {constant.data(), {one.data(), two.data(), three.data()}, {p, q, 0.5}, slopes, count};
  }
  [[nodiscard]] numeric::PolarTerms polar(double scale) const {
    return {exponents(2), {angle.data(), {two.data(), one.data()}, {p, q}, 2, count}, scale, first.data(), second.data()};
  }
  [[nodiscard]] double exponent(std::size_t j, std::size_t slopes) const {
    double sum = constant[j] + p * one[j];
    if (slopes > 1) sum += q * two[j];
    if (slopes > 2) sum += 0.5 * three[j];
    return sum;
  }
};

TEST(LaneLoops, ExponentialsAreTheSameOnEveryWidth) {
  std::mt19937_64 random(20261118);
  for (int trial = 0; trial < 300; ++trial) {
    const RandomTerms terms(random);
    const numeric::Exponents exponents = terms.exponents(1 + random() % 3);
    const double scale = numeric::largest_exponent(exponents);
    const double sum = numeric::sum_of_exponentials(exponents, scale);
    const numeric::PolarTerms polar_terms = terms.polar(numeric::largest_exponent(terms.exponents(2)));
    const numeric::PolarSum polar = numeric::sum_of_polar_terms(polar_terms);
    for (const Level& level : levels()) {
      EXPECT_EQ(scale, level.largest(exponents)) << level.name;
      EXPECT_EQ(sum, level.exponentials(exponents, scale)) << level.name;
      const numeric::PolarSum other = level.polar(polar_terms);
      EXPECT_EQ(polar.real, other.real) << level.name;
      EXPECT_EQ(polar.imaginary, other.imaginary) << level.name;
      EXPECT_EQ(polar.modulus, other.modulus) << level.name;
      EXPECT_EQ(polar.first, other.first) << level.name;
      EXPECT_EQ(polar.second, other.second) << level.name;
    }
  }
}

TEST(LaneLoops, SumExponentialsWithinTheStatedErrors) {
  constexpr double u = 0x1p-53;
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const RandomTerms terms(random);
    const std::size_t slopes = 1 + random() % 3;
    const auto n = static_cast<double>(terms.count);
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < terms.count; ++j) largest = std::max(largest, terms.exponent(j, slopes));
    EXPECT_EQ(numeric::largest_exponent(terms.exponents(slopes)), largest);
    const double scale = largest + random_column(random, 1, 300)[0];
    long double sum = 0;
    for (std::size_t j = 0; j < terms.count; ++j) {
      const double exponent = terms.exponent(j, slopes) - scale;
      sum += std::exp(static_cast<long double>(exponent));
    }
    const double found = numeric::sum_of_exponentials(terms.exponents(slopes), scale);
    const auto error = static_cast<double>(std::abs(found - sum));
    EXPECT_LE(error, (n / 4 + 20) * u * static_cast<double>(sum) + n * 1e-300);
    EXPECT_GE(found, static_cast<double>(sum) * (1 - (n / 4 + 20) * u));
  }
}

TEST(LaneLoops, SumPolarTermsWithinTheStatedErrors) {
  constexpr double u = 0x1p-53;
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 2000; ++trial) {
    RandomTerms terms(random);
    if (trial % 3 == 0) terms.q *= 1e4;  // large angles
    const double scale = numeric::largest_exponent(terms.exponents(2));
    long double real = 0, imaginary = 0, modulus = 0, first = 0, second = 0;
    for (std::size_t j = 0; j < terms.count; ++j) {
      const double exponent = terms.exponent(j, 2) - scale;
      const double angle = terms.angle[j] + terms.p * terms.two[j] + terms.q * terms.one[j];
      const long double size = std::exp(static_cast<long double>(exponent));
      real += size * std::cos(static_cast<long double>(angle));
      imaginary += size * std::sin(static_cast<long double>(angle));
      modulus += size;
      first += size * terms.first[j];
      second += size * terms.second[j];
    }
    const numeric::PolarSum found = numeric::sum_of_polar_terms(terms.polar(scale));
    const auto n = static_cast<double>(terms.count);
    const auto size = static_cast<double>(modulus);
    const auto check = [&](double one, long double truth, double error) { EXPECT_LE(std::abs(static_cast<double>(one - truth)), error); };
    check(found.real, real, 20 * u * size + 2 * u * std::abs(found.real) + 2e-26 * n);
    check(found.imaginary, imaginary, 20 * u * size + 2 * u * std::abs(found.imaginary) + 2e-26 * n);
    check(found.modulus, modulus, (n / 4 + 20) * u * size);
    check(found.first, first, (n / 4 + 20) * u * size);
    check(found.second, second, (n / 4 + 20) * u * size);
  }
}

TEST(LaneLoops, SumsOfExponentialsAreInfiniteRatherThanWrong) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t count : {1UL, 3UL, 4UL, 7UL, 64UL}) {
    for (std::size_t place : {std::size_t{0}, count / 2, count - 1}) {
      std::vector<double> constant(count, -1), slope(count, 0), large(count, 0);
      const auto sum = [&] { return numeric::sum_of_exponentials({constant.data(), {slope.data()}, {1}, 1, count}, 0); };
      const auto polar = [&] {
        const numeric::Exponents exponents{constant.data(), {slope.data(), slope.data()}, {1, 1}, 2, count};
        const numeric::Exponents angles{slope.data(), {large.data(), slope.data()}, {1, 1}, 2, count};
        return numeric::sum_of_polar_terms({exponents, angles, 0, slope.data(), slope.data()}).modulus;
      };
      EXPECT_LT(sum(), infinity);
      EXPECT_LT(polar(), infinity);
      large[place] = 5e6;
      EXPECT_EQ(polar(), infinity) << "an angle beyond the argument reduction";
      constant[place] = -100;
      EXPECT_LT(polar(), infinity) << "of a term that does not count";
      large[place] = 0;
      for (const double bad : {601.0, 1e300, infinity, nan}) {
        constant[place] = bad;
        EXPECT_EQ(sum(), infinity) << bad;
        EXPECT_EQ(polar(), infinity) << bad;
      }
    }
  }
}

// The values of the loops, computed in long double one by one.
TEST(LaneLoops, ComputeTheExpectedValues) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t blocks = 1 + random() % 50, count = blocks * lane_count;
    const auto profile = random_column(random, 2 * count, 1), fall = random_column(random, 2 * count, 1);
    const double angle = random_column(random, 1, 3)[0];
    std::vector<double> first(2 * lane_count);
    for (std::size_t k = 0; k < lane_count; ++k) {
      first[k] = std::cos(static_cast<double>(k + 1) * angle);
      first[k + lane_count] = std::sin(static_cast<double>(k + 1) * angle);
    }
    const auto found = numeric::turned_sums({profile.data(), fall.data(), blocks, first.data(), lane_count * angle});
    long double sum = 0, size = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t place = k / lane_count * 2 * lane_count + k % lane_count;
      const long double phase = static_cast<long double>(k + 1) * angle;
      sum += profile[place] * std::cos(phase) - profile[place + lane_count] * std::sin(phase);
      size += std::hypot(profile[place], profile[place + lane_count]) * (160 * 0x1p-53 + std::abs(phase) * 0x1p-51);
    }
    EXPECT_NEAR(found.profile, static_cast<double>(sum), static_cast<double>(size));
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j + 1 < count; ++j)
      for (const std::size_t end : {j, j + 1})
        largest = std::max(largest, 2 * profile[end] + angle * fall[end] - profile[count + end] + 0.5 * fall[count + j]);
    EXPECT_NEAR(numeric::largest_cell({2, angle, 0.5, profile.data(), fall.data(), profile.data() + count, fall.data() + count, count - 1}),
                largest, 1e-14);
  }
}

}  // namespace
}  // namespace tradeoff::detail
