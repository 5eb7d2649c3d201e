// SPDX-License-Identifier: Apache-2.0
#include "gdp/arc_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"

// [arc-bound]
namespace tradeoff::detail {
namespace {

/// The function that an arc of this order follows, for a Gaussian pair.
double scaled(double mu, double epsilon, double order, double base) {
  const Interval m = Interval::exactly(mu), at = Interval::exactly(epsilon);
  const Interval known = order > 0 ? log_gaussian_delta(m, at) : log_gaussian_complement(m, at);
  return std::exp(known.lo + order * epsilon - base);
}

Arc gaussian_arc(double mu, double start, double end, double order) {
  Arc arc = arc_over(start, end);
  arc.order = order;
  arc.base = mu * mu * order * (order + 1) / 2;
  for (std::size_t i = 0; i < Arc::size; ++i) arc.values[i] = scaled(mu, arc.points[i], order, arc.base);
  return arc;
}

/// The polynomial of the arc, by Lagrange's formula.
double polynomial(const Arc& arc, double epsilon) {
  double above = 0, below = 0;
  for (std::size_t i = 0; i < Arc::size; ++i) {
    if (epsilon == arc.points[i]) return arc.values[i];
    const double angle = (2 * static_cast<double>(i) + 1) * std::numbers::pi / (2.0 * Arc::size);
    const double weight = (i % 2 == 0 ? 1 : -1) * std::sin(angle) / (epsilon - arc.points[i]);
    above += weight * arc.values[i];
    below += weight;
  }
  return above / below;
}

TEST(ArcBound, DecidesBetweenTwoGaussians) {
  struct Case {
    double mu, order;
  };
  for (const auto& [mu, order] : {Case{1e-3, 1500}, {0.4, 4}, {3, 0.7}, {60, 0.05}, {1, -0.4}, {3, -0.3}, {60, -0.2}}) {
    const double start = std::max(0.0, mu * mu * (order + 0.5) - mu / 2);  // around the point where this order is used
    const Arc arc = gaussian_arc(mu, start, start + mu, order);
    EXPECT_TRUE(stays_below(arc, mu * (1 + 1e-9), arc.start, arc.end)) << mu << " " << order;
    EXPECT_FALSE(stays_below(arc, mu, arc.start, arc.end)) << mu << " " << order;
    EXPECT_FALSE(stays_below(arc, mu * (1 - 1e-9), arc.start, arc.end)) << mu << " " << order;
  }
}

// The profile of 0.999 that rises to that of 1.001 on the right: a part of the arc is proved where the whole is not.
TEST(ArcBound, APartIsProvedAlone) {
  Arc arc = gaussian_arc(1, 0.5, 1.5, 1);
  for (std::size_t i = 0; i < Arc::size; ++i) arc.values[i] = scaled(0.999 + 0.002 * (arc.points[i] - 0.5), arc.points[i], 1, arc.base);
  EXPECT_FALSE(stays_below(arc, 1, 0.5, 1.5));
  EXPECT_TRUE(stays_below(arc, 1, 0.5, 0.999));
  EXPECT_FALSE(stays_below(arc, 1, 0.5, 1.001));
  EXPECT_FALSE(stays_below(arc, 1, 1.2, 1.3));
}

TEST(ArcBound, TheErrorOfTheArcCounts) {
  for (const double order : {1.0, -0.5}) {
    Arc arc = gaussian_arc(1, 0.5, 1.5, order);
    EXPECT_TRUE(stays_below(arc, 1 + 1e-6, arc.start, arc.end));
    arc.error = 1e-4;
    EXPECT_FALSE(stays_below(arc, 1 + 1e-6, arc.start, arc.end));
    EXPECT_TRUE(stays_below(arc, 1.1, arc.start, arc.end));
  }
}

// A polynomial does not follow a Gaussian over a long way. Where an arc claims to be exact, the proof must not rely on that.
TEST(ArcBound, HoldsOnLongArcsToo) {
  int proved = 0, missed = 0;
  for (const double order : {0.3, 1.0, -0.5})
    for (double length = 0.5; length < 60; length *= 1.3)
      for (const double surplus : {1e-10, 1e-7, 1e-4, 1e-2, 0.5}) {
        const double mu = 1;
        const Arc arc = gaussian_arc(mu, 0, length, order);
        const bool below = stays_below(arc, mu * (1 + surplus), arc.start, arc.end);
        proved += below;
        bool holds = true;
        for (int i = 0; i <= 1000; ++i) {
          const double epsilon = length * i / 1000;
          const double gaussian = scaled(mu * (1 + surplus), epsilon, order, arc.base), follows = polynomial(arc, epsilon);
          holds = holds && (order > 0 ? follows <= gaussian * (1 + 1e-12) : follows >= gaussian * (1 - 1e-12));
        }
        missed += !holds;
        EXPECT_TRUE(holds || !below) << order << " " << length << " " << surplus;
      }
  EXPECT_GT(proved, 30);
  EXPECT_GT(missed, 10);
}

// One value that is larger than the others is between two points that are not.
TEST(ArcBound, SeesASinglePeak) {
  for (std::size_t i = 0; i < Arc::size; ++i) {
    Arc arc = gaussian_arc(1, 0.5, 1.5, 1);
    EXPECT_TRUE(stays_below(arc, 1 + 1e-5, arc.start, arc.end));
    arc.values[i] *= 1 + 1e-3;
    EXPECT_FALSE(stays_below(arc, 1 + 1e-5, arc.start, arc.end));
  }
}

TEST(ArcBound, FindsThePeak) {
  // the profile of mu = 1, raised by a bump at 1.3: its transform is largest there
  Arc arc = gaussian_arc(1, 0.5, 2, 1);
  for (std::size_t i = 0; i < Arc::size; ++i) arc.values[i] *= 1 + 1e-3 * std::exp(-2 * (arc.points[i] - 1.3) * (arc.points[i] - 1.3));
  const ArcPeak peak = peak_of(arc, arc.start, arc.end);
  EXPECT_GT(peak.epsilon, 0.5);
  EXPECT_LT(peak.epsilon, 1.4);
  EXPECT_GT(peak.mu, 1);
  EXPECT_TRUE(stays_below(arc, peak.mu * (1 + 1e-9), arc.start, arc.end));
  EXPECT_FALSE(stays_below(arc, peak.mu * (1 - 1e-9), arc.start, arc.end));
}

}  // namespace
}  // namespace tradeoff::detail
