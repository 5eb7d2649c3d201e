// SPDX-License-Identifier: Apache-2.0
// [bounded-range-profile] and [bounded-range-adaptive]
#include "mechanism/exponential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "loss/gaussian_profile.h"
#include "mechanism/adaptive_range.h"
#include "mechanism/choices_gaussian.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

Interval number_of(const nlohmann::json& text) {
  const double near = test::golden_double(text);
  return {numeric::next_down(near), numeric::next_up(near)};
}

Interval delta_at(const LossPointer& loss, Interval epsilon) { return loss->delta(Direction::remove, epsilon); }

TEST(BoundedRange, ProfileIsTheOneOfThirtyDigits) {
  for (const auto& entry : test::golden_group("selection.json", "br_single")) {
    const auto& inputs = entry["inputs"];
    const BoundedRangeLoss loss(number_of(inputs["eps"]));
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const Interval delta = loss.delta(direction, number_of(inputs["e"]));
      EXPECT_THAT(delta, Encloses(entry["value"].get<std::string>())) << entry["id"];
      EXPECT_THAT(delta, IsTight(1e-12)) << entry["id"];
    }
  }
}

TEST(BoundedRange, TwoPointLawsReachIt) {
  for (const double range : {0.1, 1.0, 5.0})
    for (const double epsilon : {-0.4, 0.0, 0.3, 0.8}) {
      const double e = epsilon * range, t = 0.5 * (range + e);
      const double p = std::expm1(t - range) / std::expm1(-range), q = p * std::exp(-t);
      EXPECT_NEAR(p - std::exp(e) * q, BoundedRangeLoss(Interval::exactly(range)).delta(Direction::remove, Interval::exactly(e)).hi, 1e-13);
    }
}

TEST(BoundedRange, EpsilonAndBetaInvertTheProfile) {
  const BoundedRangeLoss loss(Interval::exactly(1.5));
  for (const double delta : {0.0, 1e-300, 1e-9, 0.1, 0.3}) {
    const Interval epsilon = *loss.closed_epsilon(Direction::remove, Interval::exactly(delta));
    EXPECT_THAT(epsilon, IsTight(1e-9));
    EXPECT_LE(loss.delta(Direction::remove, Interval::exactly(epsilon.hi + 1e-12)).lo, delta);
    if (epsilon.lo > 1e-12) {
      EXPECT_GE(loss.delta(Direction::remove, Interval::exactly(epsilon.lo - 1e-12)).hi, delta);
    }
  }
  for (const double alpha : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const Interval beta = *loss.closed_beta(Direction::remove, Interval::exactly(alpha));
    EXPECT_NEAR(beta.lo, (1 - alpha) / (1 - alpha + std::exp(1.5) * alpha), 1e-14) << alpha;
    for (const double e : {-1.0, 0.0, 0.7, 1.4})  // no test is better than the profile allows
      EXPECT_GE(alpha + std::exp(e) * beta.hi, 1 - loss.delta(Direction::add, Interval::exactly(e)).hi - 1e-12);
  }
}

TEST(BoundedRange, HugeAndTinyRangesStayOrdered) {
  for (const double range : {0.0, 1e-300, 1e-10, 700.0, 1e5}) {
    const BoundedRangeLoss loss(Interval::exactly(range));
    for (const double e : {-infinity, -1e300, -1.0, 0.0, 1.0, infinity}) {
      const Interval delta = loss.delta(Direction::remove, Interval::exactly(e));
      EXPECT_TRUE(0 <= delta.lo && delta.lo <= delta.hi && delta.hi <= 1) << range << " " << e;
    }
  }
}

TEST(AdaptiveRange, TwoStepsAreTheOutcomeTreesOfTwentyDigits) {
  for (const auto& entry : test::golden_group("selection.json", "br_adaptive")) {
    const auto& inputs = entry["inputs"];
    const LossPointer loss = adaptive_range_loss({{number_of(inputs["eps"]), inputs["k"].get<std::uint64_t>()}}, {});
    const Interval delta = delta_at(loss, number_of(inputs["e"]));
    EXPECT_THAT(delta, Encloses(entry["value"].get<std::string>())) << entry["id"];
    EXPECT_THAT(delta, IsTight(1e-6)) << entry["id"];
  }
}

TEST(AdaptiveRange, NoFixedChoiceIsWorse) {
  for (const auto& entry : test::golden_group("selection.json", "br_nonadaptive")) {
    const auto& inputs = entry["inputs"];
    const LossPointer loss = adaptive_range_loss({{number_of(inputs["eps"]), inputs["k"].get<std::uint64_t>()}}, {});
    const Interval delta = delta_at(loss, number_of(inputs["e"]));
    EXPECT_GE(delta.hi, test::golden_double(entry["value"]) * (1 - 1e-12)) << entry["id"];
    EXPECT_LE(delta.lo, 2 * test::golden_double(entry["value"])) << entry["id"];
    EXPECT_THAT(delta, IsTight(1e-3)) << entry["id"];
  }
}

/// The recursion with the given choices of t, in plain doubles: what one adversary reaches.
double reached(double range, int steps, double e, const std::vector<double>& choices) {
  if (steps == 0) return std::max(0.0, -std::expm1(e));
  double best = 0;
  for (const double share : choices) {
    const double t = share * range, p = std::expm1(t - range) / std::expm1(-range);
    best = std::max(best, p * reached(range, steps - 1, e - t, choices) + (1 - p) * reached(range, steps - 1, e - t + range, choices));
  }
  return best;
}

TEST(AdaptiveRange, AdversariesStayBelowAndComeClose) {
  std::vector<double> choices;
  for (int i = 0; i <= 24; ++i) choices.push_back(i / 24.0);
  for (const double range : {0.3, 1.0, 4.0})
    for (const int steps : {2, 3})
      for (const double share : {-0.5, 0.0, 0.2, 0.55, 0.9}) {
        const double e = share * steps * range, attack = reached(range, steps, e, choices);
        const LossPointer loss = adaptive_range_loss({{Interval::exactly(range), static_cast<std::uint64_t>(steps)}}, {});
        const Interval delta = delta_at(loss, Interval::exactly(e));
        EXPECT_GE(delta.hi, attack * (1 - 1e-12)) << range << " " << steps << " " << e;
        EXPECT_LE(delta.lo, attack * 1.15) << range << " " << steps << " " << e;
      }
}

/// The same with uses of several ranges, in any order.
double reached(std::vector<std::pair<double, int>> left, double e, int choices) {
  double best = std::max(0.0, -std::expm1(e));
  bool any = false;
  for (auto& [range, uses] : left) {
    if (uses == 0) continue;
    if (!std::exchange(any, true)) best = 0;
    --uses;
    for (int i = 0; i <= choices; ++i) {
      const double t = i * range / choices, p = std::expm1(t - range) / std::expm1(-range);
      best = std::max(best, p * reached(left, e - t, choices) + (1 - p) * reached(left, e - t + range, choices));
    }
    ++uses;
  }
  return best;
}

// [adaptive-block]
TEST(AdaptiveRange, SeveralRangesInEveryOrder) {
  const std::vector<std::vector<std::pair<double, int>>> plans{{{2, 1}, {0.5, 1}}, {{1, 2}, {0.3, 1}}, {{1, 1}, {0.7, 1}, {0.25, 1}}};
  for (const auto& plan : plans)
    for (const double e : {-0.4, 0.0, 0.4, 0.9}) {
      std::vector<UsesOfRange> uses;
      for (const auto& [range, times] : plan) uses.push_back({Interval::exactly(range), static_cast<std::uint64_t>(times)});
      const Interval delta = delta_at(adaptive_range_loss(uses, {}), Interval::exactly(e));
      const double attack = reached(plan, e, 20);
      EXPECT_GE(delta.hi, attack * (1 - 1e-12)) << e;
      EXPECT_LE(delta.lo, attack * 1.01) << e;
      EXPECT_THAT(delta, IsTight(1e-6)) << e;
    }
}

TEST(AdaptiveRange, RangesAreRoundedOutwardToACommonGrid) {
  const std::vector<UsesOfRange> all{{Interval::exactly(0.5), 1}, {Interval::exactly(0.3333), 2}, {Interval::exactly(0.1667), 1}};
  const RangeGrid grid = grid_of(all, {3, 2, 1});
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_GE(static_cast<double>(grid.cells[k]) * grid.h.hi, all[k].range.hi);
    EXPECT_LE(static_cast<double>(grid.cells[k]) * grid.h.lo, all[k].range.lo);
  }
  // On a grid that hardly fits, the bounds are far apart but hold.
  const AdaptiveTable coarse = adaptive_table(all, grid_of(all, {30, 20, 10}), 38);
  const double attack = reached({{0.5, 1}, {0.3333, 2}, {0.1667, 1}}, 0.4, 6);
  EXPECT_GE(coarse.above[static_cast<std::size_t>(0.4 / grid.h.hi * 10)], attack);
}

AdaptiveTable table_of(Interval range, std::uint64_t uses, std::size_t cells, double depth) {
  const std::vector<UsesOfRange> all{{range, uses}};
  return adaptive_table(all, grid_of(all, {cells}), depth);
}

TEST(AdaptiveRange, CoarseTablesEncloseFineOnes) {
  const Interval range = Interval::exactly(0.25);
  const AdaptiveTable fine = table_of(range, 12, 512, 38);
  for (const std::size_t cells : {8, 32, 128})
    for (const double depth : {5.0, 38.0}) {
      const AdaptiveTable coarse = table_of(range, 12, cells, depth);
      for (std::size_t n = 0; n < coarse.above.size(); ++n) {
        const std::size_t same = n * (512 / cells);
        EXPECT_GE(coarse.above[n], fine.below[same]) << cells << " " << n;
        EXPECT_LE(coarse.below[n], fine.above[same]) << cells << " " << n;
      }
    }
}

TEST(AdaptiveRange, ProfileFallsAndMirrors) {
  const LossPointer loss = adaptive_range_loss({{Interval::exactly(0.5), 6}}, {});
  double before = 1;
  for (double e = -3.5; e <= 3.5; e += 0.037) {
    const Interval delta = delta_at(loss, Interval::exactly(e)), other = delta_at(loss, Interval::exactly(-e));
    EXPECT_LE(delta.lo, before);
    const Interval mirrored = -expm1(Interval::exactly(e)) + exp(Interval::exactly(e)) * other;
    EXPECT_TRUE(mirrored.lo <= delta.hi && delta.lo <= mirrored.hi) << e;
    before = delta.hi;
  }
  EXPECT_EQ(delta_at(loss, Interval::exactly(3)), Interval::exactly(0));
  EXPECT_GT(delta_at(loss, Interval::exactly(2.9)).lo, 0);
}

TEST(AdaptiveRange, AThousandStepsAreTight) {
  const LossPointer loss = adaptive_range_loss({{Interval::exactly(0.1), 1000}}, {});
  const Interval delta = delta_at(loss, Interval::exactly(8));
  EXPECT_THAT(delta, Encloses(Interval{2.48365e-6, 2.48366e-6}));  // where the ends for 100 to 900 cells point to
  EXPECT_THAT(delta, IsTight(5e-5));
  EXPECT_LT(delta_at(loss, Interval::exactly(20)).hi, 1e-20);  // beyond the first table
}

/// The largest value of one choice of bounded range before a Gaussian pair, over choices t and thresholds, minus that of another Gaussian
/// pair.
double excess_over_gaussian(double range, double s, double bound) {
  const auto gaussian = [](double square, double e) {
    return middle_of(gaussian_delta(sqrt(Interval::exactly(square)), Interval::exactly(e)));
  };
  double most = -1;
  for (int i = 0; i <= 20; ++i)
    for (int j = -10; j <= 40; ++j) {
      const double t = range * i / 20, e = std::sqrt(s) * j / 5, p = std::expm1(t - range) / std::expm1(-range);
      most = std::max(most, p * gaussian(s, e - t) + (1 - p) * gaussian(s, e - t + range) - gaussian(bound, e));
    }
  return most;
}

// [choices-gaussian]
TEST(ChoicesGaussian, OneStepBeforeAGaussianPair) {
  for (const double range : {0.05, 0.5, 2.0})
    for (const double ratio : {1.2, 2.0, 5.0, 40.0}) {
      const double w = range * range / 4, s = ratio * w;
      if (w > 12 * (1 - 1 / ratio)) continue;
      EXPECT_LE(excess_over_gaussian(range, s, s * s / (s - w)), 1e-14) << range << " " << ratio;
      if (range > 1) continue;  // two losses far apart are far from a normal law
      EXPECT_GT(excess_over_gaussian(range, s, s + 0.97 * w), 1e-9 * w) << range << " " << ratio;
    }
}

// [choices-gaussian]
TEST(ChoicesGaussian, ItIsAboveTheWorstCaseAndCloseToIt) {
  for (const double range : {0.1, 1.0})
    for (const std::uint64_t uses : {2, 30, 150}) {
      const std::vector<UsesOfRange> all{{Interval::exactly(range), uses}};
      const LossPointer exact = adaptive_range_loss(all, {}), bound = choices_gaussian(all, {});
      const double deviation = range * std::sqrt(static_cast<double>(uses)) / 2;
      for (const double place : {0.0, 1.0, 2.5, 5.0, 7.0}) {
        const Interval e = Interval::exactly(place * deviation);
        EXPECT_GE(delta_at(bound, e).hi, delta_at(exact, e).lo) << range << " " << uses << " " << place;
      }
      const double mu = bound->gaussian_mu()->hi, excess = mu * mu / (deviation * deviation) - 1;
      EXPECT_NEAR(excess, (3 + std::log1p(static_cast<double>(uses))) / static_cast<double>(uses), 1e-9);
    }
}

// [choices-gaussian] In every order; a range that counts little costs little.
TEST(ChoicesGaussian, SeveralRangesAndLargeOnes) {
  const std::vector<UsesOfRange> all{{Interval::exactly(0.5), 40}, {Interval::exactly(0.25), 100}};
  const LossPointer exact = adaptive_range_loss(all, {}), bound = choices_gaussian(all, {});
  for (const double e : {0.0, 1.0, 3.0, 8.0})
    EXPECT_GE(delta_at(bound, Interval::exactly(e)).hi, delta_at(exact, Interval::exactly(e)).lo) << e;
  const auto mu = [](std::vector<UsesOfRange> uses) { return choices_gaussian(uses, {})->gaussian_mu()->hi; };
  EXPECT_NEAR(mu({{Interval::exactly(0.5), 1000}, {Interval::exactly(1e-3), 1}}), mu({{Interval::exactly(0.5), 1000}}), 1e-6);
  EXPECT_EQ(choices_gaussian({{Interval::exactly(6), 100}}, {}), nullptr);
}

TEST(AdaptiveRange, WhatTakesTooLongIsLeftToOthers) {
  EXPECT_EQ(adaptive_range_loss({{Interval::exactly(0.1), 10'000'000}}, {}), nullptr);
  EXPECT_EQ(adaptive_range_loss({{Interval::exactly(1e5), 3}}, {}), nullptr);
  EXPECT_EQ(adaptive_range_loss({{Interval::exactly(0), 3}}, {}), nullptr);
  EXPECT_EQ(adaptive_range_loss({{Interval::exactly(0.1), 3000}, {Interval::exactly(0.2), 3000}}, {}), nullptr);
  EXPECT_EQ(adaptive_range_loss({{Interval::exactly(0.1), 10}, {Interval::exactly(1e-6), 10}}, {}), nullptr);  // no common grid
}

}  // namespace
}  // namespace tradeoff::detail
