// SPDX-License-Identifier: Apache-2.0
// The stated tails must hold: each model is compared with its Gaussian profiles. Covers [tail-model], [tail-propagation],
// [tail-composition], [tail-certificate], [pure-dp-mu].
#include "loss/tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "loss/gaussian_profile.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using nlohmann::json;
using test::Encloses;
using test::golden_double;
using test::golden_group;
using test::IsTight;

double log_model(const GaussianTail& tail, double e) { return tail.log_factor + tail.slope * e - e * e / (2 * tail.width * tail.width); }

TEST(TailCertificate, DecidesTheGoldenCases) {
  for (const json& golden : golden_group("gdp_bridge.json", "tail_certificate")) {
    const GaussianTail tail{std::log(golden_double(golden["K"])) + 1e-15, 0, golden_double(golden["s"]), 0};
    EXPECT_EQ(certifies(tail, golden_double(golden["mu"]), golden_double(golden["eps_h"])), golden["certified"].get<bool>()) << golden;
  }
}

TEST(TailCertificate, WhatIsCertifiedIsDominatedFromThereOn) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(-3, 3), slope(0, 2), width(0.2, 3), ratio(1, 1.5), start(0.5, 60);
  int certified = 0;
  for (int i = 0; i < 20000; ++i) {
    const GaussianTail tail{factor(random), i % 2 ? slope(random) : 0, width(random), 0};
    const double mu = tail.width * (i % 3 ? ratio(random) : 1), from = start(random);
    if (!certifies(tail, mu, from)) continue;
    ++certified;
    for (double e = from; e < 200 * from; e *= 1.3) ASSERT_LE(log_model(tail, e), log_gaussian_delta(mu, e).hi + 1e-9) << i << " at " << e;
  }
  EXPECT_GT(certified, 2000);
}

TEST(TailCertificate, RefusesWhatItCannotProve) {
  EXPECT_FALSE(certifies({0, 0, 1, 0}, 0.99, 1000));  // narrower than the model
  EXPECT_FALSE(certifies({0, 0, 1, 50}, 1.5, 40));    // before the model holds
  EXPECT_FALSE(certifies({0, 0.6, 1, 0}, 1, 1e6));    // a slope above 1/2 needs a larger mu
  EXPECT_FALSE(certifies({0, 0, 1, 0}, infinity, 40));
}

TEST(PureDpMu, EnclosesTheGoldenValues) {
  for (const json& golden : golden_group("gdp_bridge.json", "theorem_5_1")) {
    const Interval mu = pure_dp_mu(Interval::exactly(golden_double(golden["eps"])));
    EXPECT_THAT(mu, Encloses(golden["mu"].get<std::string>())) << golden;
    EXPECT_THAT(mu, IsTight(1e-13)) << golden;
  }
}

TEST(TailPropagation, SamplingKeepsTheLimitAndShrinksTheSupport) {
  const Tail zero = sampled_tail(zero_tail(2), Interval::exactly(0.5), true);
  EXPECT_THAT(Interval::exactly(zero.zero_from), Encloses(log1p(Interval::exactly(0.5) * expm1(Interval::exactly(2)))));
  const Tail gdp = sampled_tail(gdp_tail(Interval::exactly(1)), Interval::exactly(0.1), true);
  EXPECT_EQ(gdp.gdp_mu, 1);
  EXPECT_EQ(gdp.limit, Interval::exactly(1));
  // The limit is a fact of the profile: e / sqrt(-2 log delta) rises towards 1 however small the rate.
  const PoissonLoss loss(gaussian_loss(Interval::exactly(1)), Interval::exactly(0.1));
  double before = 0;
  for (const double e : {10.0, 100.0, 1000.0, 10000.0}) {
    const double mu = gaussian_mu_of_log(Interval::exactly(e), loss.log_delta(Direction::remove, Interval::exactly(e))).lo;
    EXPECT_GT(mu, before);
    before = mu;
  }
  EXPECT_GT(before, 0.999);
  EXPECT_LE(before, 1);
}

TEST(TailPropagation, AHeavyPartMakesTheCompositionHeavy) {
  const Tail heavy = heavy_tail(TailKind::polynomial);
  EXPECT_EQ(composed_tail({{gdp_tail(Interval::exactly(1)), 3}, {heavy, 1}}).limit.lo, infinity);
  EXPECT_EQ(mixed_tail({zero_tail(1), heavy}).limit.lo, infinity);
  EXPECT_EQ(composed_tail({{gdp_tail(Interval::exactly(1)), 3}, {heavy, 0}}).limit.lo, std::sqrt(3.0));
  const Tail unknown = composed_tail({{gdp_tail(Interval::exactly(1)), 1}, {Tail{}, 1}});
  EXPECT_EQ(unknown.kind, TailKind::unknown);
  EXPECT_EQ(unknown.gdp_mu, infinity);
  EXPECT_FALSE(unknown.gaussian.has_value());
  EXPECT_EQ(unknown.limit.lo, 1);  // at least as large as the known one
}

TEST(TailComposition, PureAndGaussianParts) {
  const Tail pure = composed_tail({{zero_tail(1), 3}, {zero_tail(0.5), 2}});
  EXPECT_EQ(pure.kind, TailKind::zero);
  EXPECT_NEAR(pure.zero_from, 4, 1e-12);
  const Tail gaussian = composed_tail({{gdp_tail(Interval::exactly(3)), 1}, {gdp_tail(Interval::exactly(2)), 4}});
  EXPECT_NEAR(gaussian.gdp_mu, 5, 1e-12);
  EXPECT_THAT(gaussian.limit, Encloses(5));
  // Laplace with Gaussian: the model is the Gaussian one shifted, and it holds: delta(e) <= delta_mu(e - e0).
  const Tail both = composed_tail({{zero_tail(1), 1}, {gdp_tail(Interval::exactly(1)), 1}});
  ASSERT_TRUE(both.gaussian.has_value());
  for (double e = both.gaussian->from; e < 100; e += 0.7)
    EXPECT_GE(log_model(*both.gaussian, e) + 1e-9, log_gaussian_delta(1, e - 1).lo) << e;
  EXPECT_EQ(both.limit, Interval::exactly(1));
}

TEST(TailComposition, ModelsOfGaussianTailsBoundTheComposedGaussian) {
  // Two Gaussian profiles under their models (width above mu): the composed model must bound the composed profile, which is Gaussian.
  for (const double mu : {0.3, 1.0, 2.0}) {
    for (const int steps : {1, 2, 5}) {
      const double width = 1.2 * mu;
      double largest = -infinity;  // of log delta_mu + e^2/(2 width^2)
      for (double e = 0; e < 60 * mu; e += 0.01 * mu)
        largest = std::max(largest, log_gaussian_delta(mu, e).hi + e * e / (2 * width * width));
      const Tail part = gaussian_tail(largest + 1e-3, Interval::exactly(width), 0);
      const Tail whole = composed_tail({{part, static_cast<std::uint64_t>(steps)}, {zero_tail(0.5), 1}});
      ASSERT_TRUE(whole.gaussian.has_value());
      EXPECT_LT(whole.gaussian->width, 1.02 * width * std::sqrt(steps));
      for (double e = whole.gaussian->from; e < 4 * whole.gaussian->from; e *= 1.1)
        EXPECT_GE(log_model(*whole.gaussian, e), log_gaussian_delta(mu * std::sqrt(steps), e).hi) << mu << " x" << steps << " at " << e;
    }
  }
}

TEST(TailModel, EveryLossStatesItsTail) {
  EXPECT_EQ(LaplaceLoss(Interval::exactly(2)).tail().zero_from, 2);
  EXPECT_EQ(gaussian_loss(Interval::exactly(0.5))->tail().limit, Interval::exactly(0.5));
}

// If one component is unknown, only what holds for any component is known of the mixture.
TEST(Tail, OfAMixtureIsUnknownIfThatOfAComponentIs) {
  const Tail known = gdp_tail(Interval::exactly(1));
  const Tail mixed = mixed_tail({known, Tail{}});
  EXPECT_EQ(mixed.kind, TailKind::unknown);
  EXPECT_FALSE(mixed.gaussian.has_value());
  EXPECT_EQ(mixed.gdp_mu, infinity);
  EXPECT_EQ(mixed.zero_from, infinity);
  EXPECT_EQ(mixed.limit.lo, 1);  // the mixture's limit is the largest of its components'
  EXPECT_EQ(mixed.limit.hi, infinity);
  EXPECT_TRUE(mixed_tail({known, zero_tail(3)}).gaussian.has_value());
}

}  // namespace
}  // namespace tradeoff::detail
