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
};

/// The widths that this processor supports.
std::vector<Level> levels() {
  std::vector<Level> found{{"plain", plain::tradeoff::detail::sum_oscillations, plain::tradeoff::detail::numeric::turned_sums,
                            plain::tradeoff::detail::numeric::largest_cell}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    found.push_back({"avx2", avx2::tradeoff::detail::sum_oscillations, avx2::tradeoff::detail::numeric::turned_sums,
                     avx2::tradeoff::detail::numeric::largest_cell});
  if (__builtin_cpu_supports("avx512f"))
    found.push_back({"avx512", avx512::tradeoff::detail::sum_oscillations, avx512::tradeoff::detail::numeric::turned_sums,
                     avx512::tradeoff::detail::numeric::largest_cell});
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
