// SPDX-License-Identifier: Apache-2.0
// The printed algorithms in corrected form, marching and the chord search, compared with the same true values, and the cost of each. Covers
// [staircase-bound], [chord-bound].
#include "gdp/staircase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/research.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

/// The examples on which the methods were first compared, with 15 digits of their head supremum on [0, 10].
struct Example {
  const char* plan;
  double truth;
};
constexpr Example examples[] = {
    {"laplace(scale=0.5)", 1.80090519327558068},
    {"laplace(scale=0.5) | poisson(rate=0.5)", 0.978278398058939554},
    {"laplace(scale=0.5) | poisson(rate=0.1)", 0.277311843673481053},
    {"sqrt_log_family(2, 1, 2) | refine()", 1.85635728853160437},
    {"sqrt_log_family(2, 1, 2) | refine() | poisson(rate=0.5)", 0.928178644265802185},
};

TEST(Staircase, EveryMethodCoversTheTruthWithinItsWidth) {
  for (const Example& example : examples) {
    for (const double width : {0.1, 0.01}) {
      for (const HeadMethod& row : compare_head_methods(analyze(parse(example.plan)), 10, width)) {
        EXPECT_TRUE(row.refusal.empty()) << row.refusal;
        EXPECT_LE(row.mu.lo, example.truth + 1e-12) << example.plan << " by " << row.method;
        EXPECT_GE(row.mu.hi, example.truth - 1e-12) << example.plan << " by " << row.method;
        EXPECT_LE(row.mu.width(), width * (1 + 1e-9)) << example.plan << " by " << row.method;
      }
    }
  }
}

TEST(Staircase, ChordsNeedAtMostThirtyEvaluations) {
  for (const Example& example : examples) {
    const Curve curve = analyze(parse(example.plan));
    const HeadMethod chord = compare_head_methods(curve, 10, 1e-8, {"chord"}).front();
    EXPECT_LE(chord.evaluations, 30u) << example.plan;
    EXPECT_LE(chord.mu.width(), 1e-8) << example.plan;
    EXPECT_NEAR(chord.mu.lo, example.truth, 2e-8) << example.plan;
    const HeadMu head = measure_head_mu(curve, Interval::exactly(10));
    EXPECT_LE(head.evaluations, 30u) << example.plan;
    EXPECT_LE(head.mu.width(), 1e-8) << example.plan;
    EXPECT_LE(measure_mu(curve).evaluations, 60u) << example.plan;
  }
}

TEST(Staircase, TheTestsOfAlgorithmOneSaveSearchesAndNoEvaluations) {
  const Curve curve = analyze(parse("laplace(scale=0.5)"));
  const auto rows = compare_head_methods(curve, 10, 0.01, {"algorithm_1", "algorithm_3"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].evaluations, rows[1].evaluations);  // n + 1, every value is cached
  EXPECT_EQ(rows[0].evaluations, static_cast<std::size_t>(std::ceil(std::sqrt(8 * M_PI) * 100 * 10)) + 2);
  EXPECT_LT(rows[0].searches, 100u);
  EXPECT_EQ(rows[1].searches, 2 * (rows[1].evaluations - 1) + 1);
  const auto marching = compare_head_methods(curve, 10, 0.01, {"marching"});
  EXPECT_LT(marching.front().evaluations, 150u);
}

TEST(Staircase, BisectionFindsItsUpperEndFirst) {
  // The printed bracket [0, 10] does not contain this root.
  const Interval root = bisect_mu(1000, 1e-300, 1e-3);
  EXPECT_GT(root.lo, 10);
  EXPECT_THAT(root, Encloses(gaussian_mu(1000.0, 1e-300)));
  EXPECT_LE(root.width(), 1e-3);
  EXPECT_EQ(bisect_mu(1, 0, 0.1), Interval::exactly(0));
  EXPECT_EQ(bisect_mu(1, 1, 0.1).lo, infinity);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> epsilon(0, 8), exponent(-12, -0.01);
  for (int i = 0; i < 200; ++i) {
    const double e = epsilon(random), d = std::pow(10, exponent(random));
    EXPECT_THAT(bisect_mu(e, d, 1e-6), Encloses(gaussian_mu(e, d))) << e << " " << d;
    EXPECT_LE(bisect_mu(e, d, 1e-6).width(), 1e-6);
  }
}

TEST(Staircase, MeasuresComposedPlansToo) {
  const Curve curve = analyze(parse("randomized_response(0.2) | repeat(50)"));
  for (const HeadMethod& row : compare_head_methods(curve, 10, 0.05)) {
    EXPECT_THAT(row.mu, Encloses(1.42007917667459635)) << row.method;
    EXPECT_LE(row.mu.width(), 0.05 * (1 + 1e-9)) << row.method;
  }
}

TEST(Staircase, RefusesWhatItCannotDo) {
  const Curve curve = analyze(parse("laplace(scale=0.5)"));
  EXPECT_THROW((void)compare_head_methods(curve, 0, 0.1), DomainError);
  EXPECT_THROW((void)compare_head_methods(curve, 1, 0), DomainError);
  EXPECT_THROW((void)compare_head_methods(curve, 1, NAN), DomainError);
  EXPECT_THROW((void)compare_head_methods(curve, 1, 0.1, {"algorithm_4"}), DomainError);
  const HeadMethod fine = compare_head_methods(curve, 10, 1e-6, {"algorithm_1"}).front();
  EXPECT_FALSE(fine.refusal.empty());  // it would take 50 million steps
  EXPECT_EQ(fine.mu.hi, infinity);
}

TEST(Staircase, MarchingGoesBackOverAPeakThatItsScanMissed) {
  // On [0, 100] the scan evaluates 0 and then a point beyond the largest loss, 1.43; the supremum lies between, far above the value at 0.
  const Curve curve = analyze(parse(examples[1].plan));
  ASSERT_LT(gaussian_mu(Interval::exactly(0), curve.delta_at(0.0)).hi, examples[1].truth - 0.1);
  const HeadMethod row = compare_head_methods(curve, 100, 0.01, {"marching"}).front();
  EXPECT_TRUE(row.refusal.empty()) << row.refusal;
  EXPECT_LE(row.mu.lo, examples[1].truth + 1e-12);
  EXPECT_GE(row.mu.hi, examples[1].truth - 1e-12);
  EXPECT_LE(row.mu.width(), 0.01 * (1 + 1e-9));
}

}  // namespace
}  // namespace tradeoff::detail
