// SPDX-License-Identifier: Apache-2.0
// Moments compared with closed forms, and the lines and models that follow from them. Covers [moment-bound], [tail-composition].
#include "loss/moment_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loss/gaussian_profile.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"

namespace tradeoff::detail {
namespace {

Tail sampled(double mu, double rate) { return sampled_tail(gdp_tail(Interval::exactly(mu)), Interval::exactly(rate), true); }

MomentBound bound_of(const std::vector<std::pair<Tail, std::uint64_t>>& parts) {
  MomentBound bound;
  for (const auto& [tail, times] : parts) EXPECT_TRUE(bound.add(tail, times));
  return bound;
}

/// E exp(l L) of a Gaussian sampled at a rate, in the remove direction: a sum over the number of factors that come from P.
double log_sampled_moment(double mu, double rate, int l) {
  double sum = 0, binomial = 1;
  for (int k = 0; k <= l + 1; ++k) {
    sum += binomial * std::pow(1 - rate, l + 1 - k) * std::pow(rate, k) * std::exp(0.5 * mu * mu * k * (k - 1));
    binomial *= static_cast<double>(l + 1 - k) / (k + 1);
  }
  return std::log(sum);
}

TEST(MomentBound, IsExactForGaussians) {
  for (const double l : {0.3, 1.0, 7.0})
    EXPECT_NEAR(bound_of({{gdp_tail(Interval::exactly(0.5)), 3}}).above(l), 3 * 0.25 * l * (l + 1) / 2, 1e-12);
}

TEST(MomentBound, LiesAboveTheMomentsOfSampledGaussians) {
  for (const double mu : {0.3, 1.0, 2.0})
    for (const double rate : {1e-3, 0.05, 0.5})
      for (const int l : {1, 2, 5, 15}) {
        const double exact = log_sampled_moment(mu, rate, l), bound = bound_of({{sampled(mu, rate), 1}}).above(l);
        EXPECT_GE(bound, exact * (1 - 1e-12)) << mu << " " << rate << " " << l;
        EXPECT_LE(bound, 0.5 * mu * mu * l * (l + 1) * (1 + 1e-12)) << mu << " " << rate << " " << l;
        if (mu == 2 && l == 15) {
          EXPECT_LE(bound, exact + 0.1) << rate;
        }
      }
}

TEST(MomentBound, LiesAboveTheMomentsOfLaplaceNoise) {
  // E exp(l L) = ((l + 1) exp(l e) + l exp(-(l + 1) e))/(2 l + 1)
  for (const double size : {0.1, 1.0, 4.0})
    for (const double l : {0.5, 3.0, 40.0}) {
      const double exact = l * size + std::log((l + 1 + l * std::exp(-(2 * l + 1) * size)) / (2 * l + 1));
      EXPECT_GE(bound_of({{zero_tail(size), 1}}).above(l), exact) << size << " " << l;
    }
}

TEST(MomentBound, OfAProfileWithAModelLiesAboveTheMoments) {
  // The model of a Gaussian stands for one that is known by its profile only.
  for (const double mu : {0.5, 1.0, 3.0}) {
    Tail tail;
    tail.gaussian = GaussianTail{-mu * mu / 8, 0.5, mu, mu * mu / 2};
    for (const double l : {0.5, 2.0, 30.0}) EXPECT_GE(bound_of({{tail, 1}}).above(l), 0.5 * mu * mu * l * (l + 1)) << mu << " " << l;
  }
}

TEST(MomentBound, KnowsNothingAboutHeavyTails) {
  MomentBound bound;
  EXPECT_FALSE(bound.add(heavy_tail(TailKind::floor), 1));
  EXPECT_TRUE(bound.add(heavy_tail(TailKind::floor), 0));
}

TEST(MomentBound, EveryOrderGivesALineAboveTheProfile) {
  for (const double mu : {0.2, 1.0, 4.0}) {
    const MomentBound bound = bound_of({{gdp_tail(Interval::exactly(mu)), 1}});
    for (const double e : {0.1, 1.0, 5.0, 30.0}) {
      const double best = bound.order_near(e);
      for (const double order : {0.1, best, 2 * best, 100.0})
        EXPECT_GE(bound.log_chernoff(order) - order * e, log_gaussian_delta(mu, e).lo) << mu << " " << e << " " << order;
    }
  }
}

// At its own order the model lies above the bound of the moments there, with 1/(1 + order) for the factor that depends on it.
TEST(MomentBound, ModelsLieAboveTheMomentsFromTheirOrderOn) {
  Tail profile;
  profile.gaussian = GaussianTail{0.3, 0.7, 0.8, 2.0};
  const std::vector<std::vector<std::pair<Tail, std::uint64_t>>> plans{{{gdp_tail(Interval::exactly(0.5)), 4}, {zero_tail(0.25), 10}},
                                                                       {{sampled(2, 0.01), 100}},
                                                                       {{sampled(0.4, 0.2), 30}, {zero_tail(1), 2}},
                                                                       {{profile, 7}, {gdp_tail(Interval::exactly(1)), 1}},
                                                                       {{profile, 2}, {sampled(1.5, 0.001), 1000}, {zero_tail(0.01), 5}}};
  for (const auto& parts : plans) {
    const MomentBound bound = bound_of(parts);
    for (const double least : {1.0, 3.0, 20.0, 200.0}) {
      const GaussianTail model = bound.model_from(least);
      const double squares = model.width * model.width;
      for (double e = model.from * (1 + 1e-9) + 1e-9; e < 1e3 * (1 + model.from); e *= 1.7) {
        const double order = e / squares - model.slope;
        ASSERT_GE(order, least * (1 - 1e-6));
        const double line = bound.above(order) - order * e - std::log1p(order),
                     found = model.log_factor + model.slope * e - e * e / (2 * squares);
        EXPECT_GE(found, line - 1e-9 * std::abs(line)) << least << " " << e;
      }
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail
