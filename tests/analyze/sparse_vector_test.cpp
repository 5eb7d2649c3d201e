// SPDX-License-Identifier: Apache-2.0
// [sparse-vector]
#include <gmock/gmock.h>

#include <string>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"
#include "tradeoff/provenance.h"

namespace tradeoff {
namespace {

using testing::HasSubstr;

Curve curve(const std::string& text, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(text), neighbours); }

std::string refusal(const std::string& text, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)curve(text, neighbours);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SparseVectorPlan, LargestLossIsExact) {
  EXPECT_EQ(curve("sparse_vector(threshold_scale=2, query_scale=4, positives=3)").pure_epsilon()->text, "2");
  EXPECT_EQ(curve("sparse_vector(threshold_scale=2, query_scale=4, positives=3, monotone=either)").pure_epsilon()->text, "1.25");
  EXPECT_EQ(curve("sparse_vector(threshold_scale=2, query_scale=4, positives=3, redraw=true)").pure_epsilon()->text, "3");
  EXPECT_EQ(curve("sparse_vector(threshold_scale=2, query_scale=4, noise=exponential)").pure_epsilon()->text, "1");
  EXPECT_EQ(curve("sparse_vector(threshold_scale=2, query_scale=4, sensitivity=0.1)").pure_epsilon()->text, "0.1");
  EXPECT_FALSE(curve("sparse_vector(threshold_scale=2, query_scale=4, monotone=rising)").pure_epsilon());
}

TEST(SparseVectorPlan, ComposesWithOtherLines) {
  const Curve both = curve("sparse_vector(threshold_scale=4, query_scale=20, positives=3) | repeat(2); laplace(scale=10)");
  const Curve one = curve("sparse_vector(threshold_scale=4, query_scale=20, positives=3)");
  const Curve pure = curve("dp(epsilon=0.55) | repeat(2); laplace(scale=10)");
  for (const double epsilon : {0.6}) {
    const Interval delta = both.delta_at(epsilon);
    EXPECT_LE(delta.lo, delta.hi);
    EXPECT_GE(delta.hi, one.delta_at(epsilon).lo);
    EXPECT_LE(delta.hi, pure.delta_at(epsilon).hi * 1.001);
  }
}

TEST(SparseVectorPlan, FreshNoiseOnTheThresholdIsRepetition) {
  const Curve redrawn = curve("sparse_vector(threshold_scale=4, query_scale=20, positives=3, redraw=true)");
  const Curve repeated = curve("sparse_vector(threshold_scale=4, query_scale=20) | repeat(3)");
  for (const double epsilon : {0.0, 0.3, 0.8}) {
    EXPECT_NEAR(redrawn.delta_at(epsilon).hi, repeated.delta_at(epsilon).hi, 1e-6);
    EXPECT_LE(redrawn.delta_at(epsilon).lo, repeated.delta_at(epsilon).hi);
  }
}

TEST(SparseVectorPlan, DirectionsOfMonotoneQueries) {
  const std::string plan = "sparse_vector(threshold_scale=1, query_scale=4, monotone=";
  const Curve rising = curve(plan + "rising)", Neighbours::add_remove), falling = curve(plan + "falling)", Neighbours::add_remove);
  EXPECT_EQ(rising.delta_at(0.3, Direction::remove).hi, 0);
  EXPECT_GE(rising.delta_at(0.3, Direction::add).hi, 0.0260);
  EXPECT_GE(falling.delta_at(0.3, Direction::remove).hi, 0.0260);  // 60 low queries that fall with the record reach it
  EXPECT_EQ(falling.delta_at(0.3, Direction::add).hi, 0);
  EXPECT_GE(curve(plan + "either)", Neighbours::add_remove).delta_at(0.3, Direction::remove).hi, 0.0260);
}

TEST(SparseVectorPlan, SaysThatTheLowerEndIsAWitness) {
  const Curve one = curve("sparse_vector(threshold_scale=2, query_scale=4)");
  const Provenance how = provenance_of([&] { (void)one.delta_at(0.2); });
  std::string steps;
  for (const Step& step : how.steps) steps += step.theorem + ": " + step.detail + "\n";
  EXPECT_THAT(steps, HasSubstr("sparse-vector-witness: lower ends: one explicit stream"));
  EXPECT_THAT(steps, HasSubstr("a bound, not known to be attained"));
  EXPECT_THAT(steps, HasSubstr("bracketed-pair"));
}

TEST(SparseVectorPlan, WrongVariantsAreRefused) {
  const std::string scales = "sparse_vector(threshold_scale=2, query_scale=4";
  EXPECT_THAT(refusal(scales + ", monotone=true)"), HasSubstr("monotone must be no, rising, falling or either"));
  EXPECT_THAT(refusal(scales + ", noise=gaussian)"), HasSubstr("needs queries"));
  EXPECT_THAT(refusal(scales + ", queries=10)"), HasSubstr("noise = gaussian"));
  EXPECT_THAT(refusal(scales + ", positives=0)"), HasSubstr("positives = 0"));
  EXPECT_THAT(refusal(scales + ", positives=100000)"), HasSubstr("at most 10000"));
  EXPECT_THAT(refusal("sparse_vector(threshold_scale=2, query_scale=0)"), HasSubstr("noise on the queries"));
  EXPECT_THAT(refusal("sparse_vector(threshold_scale=0, query_scale=2)"), HasSubstr("noise on the threshold"));
  EXPECT_THAT(refusal("numeric_sparse(2, 4)"), HasSubstr("a value limits the noise of the threshold"));
  for (const char* monotone : {"rising", "falling", "either"})
    EXPECT_THAT(refusal(scales + ", monotone=" + monotone + ")", Neighbours::replace_one), HasSubstr("add-remove"));
  EXPECT_EQ(refusal(scales + ")", Neighbours::replace_one), "accepted");
}

TEST(SparseVectorPlan, AnswersUnderEveryRelationAndOperator) {
  const std::string plan = "sparse_vector(threshold_scale=4, query_scale=20, positives=2)";
  for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::zero_out, Neighbours::replace_one, Neighbours::unstated}) {
    const Interval delta = curve(plan + " | repeat(2)", neighbours).delta_at(0.2);
    EXPECT_LE(delta.lo, delta.hi);
    EXPECT_LT(delta.hi, 0.5);
  }
  const Interval sampled = curve(plan + " | poisson(rate=0.1)", Neighbours::add_remove).delta_at(0.01);
  EXPECT_LE(sampled.lo, sampled.hi);
  EXPECT_LE(sampled.hi, curve(plan).delta_at(0.01).hi);
}

}  // namespace
}  // namespace tradeoff
