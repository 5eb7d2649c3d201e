// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/compose.h"
#include "numeric/arithmetic.h"
#include "operators/allocation.h"
#include "operators/allocation/epoch_density.h"
#include "operators/allocation/epoch_law.h"
#include "operators/allocation/log_mean_law.h"
#include "operators/allocation/mean_density.h"
#include "operators/allocation/mean_tails.h"

// [allocation-mean-law]
namespace tradeoff::detail {
namespace {

using allocation::EpochDensity;
using allocation::EpochLaw;
using allocation::LogMeanLaw;
using allocation::MeanDensity;
using allocation::MeanTails;

Interval at(double x) { return Interval::exactly(x); }

/// The density of log Y.
double density_of_one(double s, double x) {
  const double z = x / s + s / 2;
  return std::exp(-z * z / 2) / (s * std::sqrt(2 * std::numbers::pi));
}

/// The density of log((Y_1 + Y_2)/2) at l, by quadrature over log Y_1 - log Y_2: the trapezoidal rule in the whole line.
double density_of_two(double s, double l) {
  double sum = 0;
  const double step = 0.01 * std::min(1.0, s);
  for (double r = -60 * s; r < 60 * s; r += step) {
    const double x = l - std::log(0.5 + 0.5 * std::exp(-r));
    sum += step * density_of_one(s, x) * density_of_one(s, x - r);
  }
  return sum;
}

TEST(AllocationMeanLaw, HoldsTwoSteps) {
  for (const double s : {0.1, 0.3, 0.5, 1.0}) {
    const MeanDensity law = allocation::mean_density(s, 2, {-2 * s, 2 * s, 0.0625 * s});
    ASSERT_GT(law.value.size(), 50u) << s;
    double worst = 0;
    for (std::size_t i = 0; i < law.value.size(); ++i) {
      const double place = law.step * static_cast<double>(law.first + static_cast<std::int64_t>(i)), truth = density_of_two(s, place);
      EXPECT_NEAR(law.value[i], truth, law.error[i] + 1e-12 * truth) << s << ' ' << place;
      worst = std::max(worst, law.error[i] / law.value[i]);
    }
    EXPECT_LT(worst, 1e-7) << s;
  }
}

// Doubling shares nothing with it but the range.
TEST(AllocationMeanLaw, AgreesWithDoubling) {
  for (const auto& [sigma, steps, log_mass] :
       {std::tuple{0.5, 30u, -30.0}, {1.0, 1000u, -40.0}, {0.8, 5000u, -30.0}, {20.0, 5000u, -60.0}, {0.4, 3000u, -30.0}}) {
    const double s = 1 / sigma, n = steps;
    const MeanTails tails(s);
    const double step = std::ldexp(1.0, static_cast<int>(std::floor(std::log2(0.1 * s / std::sqrt(n)))));
    const allocation::LawRange range{tails.left_end(n, log_mass), tails.right_end_of_mean(n, log_mass), step};
    const MeanDensity law = allocation::mean_density(s, n, range);
    const LogMeanLaw doubled = allocation::log_mean_law(s, steps, tails, range);
    ASSERT_EQ(doubled.step, step);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < doubled.size(); ++i) {
      const std::int64_t k = doubled.first + static_cast<std::int64_t>(i) - law.first;
      if (k < 0 || k >= static_cast<std::int64_t>(law.value.size())) continue;
      const auto at_place = static_cast<std::size_t>(k);
      const double log_density = doubled.log_density(i), error = law.error[at_place] / law.value[at_place];
      const double known = doubled.error[i / LogMeanLaw::block] + std::exp(doubled.log_floor - log_density);
      EXPECT_LT(error, 1e-7);
      EXPECT_NEAR(std::log(law.value[at_place]), log_density, 1.1 * (known + error) + 1e-14 * (1 + std::abs(log_density)))
          << sigma << ' ' << steps << ' ' << i;
      ++compared;
    }
    EXPECT_GE(compared + 8, static_cast<std::size_t>((range.high - range.low) / step)) << sigma << ' ' << steps;
  }
}

// P and Q have mass 1, for steps and noise where doubling loses digits.
TEST(AllocationMeanLaw, HasMassOne) {
  for (const auto& [sigma, steps] : {std::pair{0.35, 30'000u}, {0.797, 57'104u}, {20.0, 100'000u}}) {
    const auto density = std::make_shared<const EpochDensity>(at(1 / sigma), steps, std::log(1e-18));
    ASSERT_TRUE(density->known() && density->by_contour()) << sigma << ' ' << steps;
    const EpochLaw law(density, Interval::whole());
    const auto event = law.event(), above = law.outside(false), below = law.outside(true);
    const Interval q = event.q + above.q + below.q, p = event.p + above.p + below.p;
    EXPECT_TRUE(q.lo <= 1 && 1 <= q.hi && p.lo <= 1 && 1 <= p.hi) << sigma << ' ' << steps;
    EXPECT_LT(q.width() + p.width(), 2e-7) << sigma << ' ' << steps;
  }
}

// One value without a law, by integrals with another kernel.
TEST(AllocationMeanLaw, GivesTheProfile) {
  for (const auto& [sigma, steps] : {std::pair{0.416, 20'000u}, {0.8, 60'000u}, {5.0, 4000u}}) {
    const EpochDensity law(at(1 / sigma), steps, std::log(1e-24));
    ASSERT_TRUE(law.known() && law.by_contour());
    for (const double share : {0.1, 1.0, 4.0}) {
      const double epsilon = share / (sigma * std::sqrt(steps));
      for (const Direction direction : {Direction::remove, Direction::add}) {
        const Interval one = direction == Direction::remove ? allocation::removed_epoch_delta(at(1 / sigma), steps, epsilon)
                                                            : allocation::added_epoch_delta(at(1 / sigma), steps, epsilon);
        const Interval found = law.delta(direction, epsilon);
        EXPECT_TRUE(found.lo <= one.hi && one.lo <= found.hi) << sigma << ' ' << steps << ' ' << epsilon;
        EXPECT_LT(found.width(), 1e-6 * found.hi) << sigma << ' ' << steps << ' ' << epsilon;
      }
    }
  }
}

// Several epochs with many steps and little noise. The brackets of epsilon are those of doubling, which are wide.
TEST(AllocationMeanLaw, ComposesEpochs) {
  struct Case {
    double sigma;
    std::uint64_t steps, epochs;
    double delta;
    Interval doubled;
  };
  for (const Case& one :
       {Case{0.797, 57'104, 8, 2e-10, {0.127843010225, 0.128412034786}}, Case{0.416, 88'164, 2, 2.9e-10, {6.16956068666, 6.18692514676}}}) {
    const LossPointer epochs = compose({{allocation_loss(at(1 / one.sigma), one.steps), one.epochs}}, {1e-6}).loss;
    const Interval most = epochs->delta(Direction::remove, at(one.doubled.lo)),
                   least = epochs->delta(Direction::remove, at(one.doubled.hi));
    EXPECT_LE(least.lo, one.delta) << one.sigma;
    EXPECT_GE(most.hi, one.delta) << one.sigma;
    EXPECT_LT(most.width() + least.width(), 1e-3 * one.delta) << one.sigma;
  }
}

}  // namespace
}  // namespace tradeoff::detail
