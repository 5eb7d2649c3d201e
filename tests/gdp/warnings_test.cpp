// SPDX-License-Identifier: Apache-2.0
// Refusals and warnings, one test per case. Covers [tail-model], [gdp-transform], [chord-bound], [classical-composition].
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

GdpMeasurement measured(const std::string& plan) { return measure_mu(analyze(parse(plan))); }

template <class Failure>
std::string refusal(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)analyze(parse(plan), neighbours);
  } catch (const Failure& failure) {
    return failure.what();
  }
  ADD_FAILURE() << plan << " was accepted";
  return {};
}

TEST(Refuse, ParametersOutOfRange) {
  for (const auto& [plan, named] : std::initializer_list<std::pair<const char*, const char*>>{
           {"dp(epsilon=-1)", "epsilon"},
           {"dp(epsilon=1, delta=1.5)", "delta"},
           {"dp(epsilon=1, delta=-0.1)", "delta"},
           {"gdp(mu=-1)", "mu"},
           {"laplace(1) | poisson(rate=1.5)", "rate"},
           {"laplace(1) | poisson(rate=-0.5)", "rate"},
           {"laplace(1) | sample(size=11, of=10)", "size"},
           {"laplace(1) | sample(size=0, of=10)", "size"},
           {"laplace(1) | sample_with_replacement(draws=0, of=10)", "draws"},
           {"laplace(1) | sample_with_replacement(draws=1, of=0)", "of"},
           {"sqrt_log_family(a=0, b=1, sigma=1)", "a"},
           {"sqrt_log_family(a=1, b=0, sigma=1)", "b"},
           {"sqrt_log_family(a=1, b=1, sigma=-1)", "sigma"},
           {"log_family(c=0, sigma=1)", "c"},
           {"log_family(c=1, sigma=0)", "sigma"},
           {"laplace(scale=0)", "scale"},
           {"icea(4, 20) | rectify(epsilon=0, low=0, high=1)", "epsilon"},
           {"icea(4, 20) | rectify(epsilon=1, low=1, high=1)", "high"},
           {"icea(4, 20) | rectify(epsilon=1, low=2, high=1)", "high"},
       })
    EXPECT_THAT(refusal<DomainError>(plan), HasSubstr(named)) << plan;
  for (const char* plan : {"dp(epsilon=nan)", "gdp(mu=inf)", "icea(4, 20) | rectify(epsilon=1, low=0, high=inf)"})
    EXPECT_THROW((void)parse(plan), ParseError) << plan;  // infinity and NaN are not numbers of the language
  const Curve curve = analyze(parse("laplace(1)"));
  for (const double last : {0.0, -1.0, static_cast<double>(NAN), infinity}) {
    EXPECT_THROW((void)measure_head_mu(curve, Interval::exactly(last)), DomainError) << last;
    EXPECT_THROW((void)compare_head_methods(curve, last, 0.1), DomainError) << last;
    EXPECT_THROW((void)compare_head_methods(curve, 1, last), DomainError) << last;
  }
  for (const double slack : {-1e-9, 1.0, static_cast<double>(NAN)})
    EXPECT_THROW((void)measure_mu(curve, {Interval::exactly(slack)}), DomainError) << slack;
}

TEST(Refuse, ProfilesThatRiseOrLeaveTheirRangeNameTheRow) {
  EXPECT_THAT(refusal<DomainError>("profile(points=[(0, 0.3), (1, 0.4)])"), HasSubstr("row 2"));
  EXPECT_THAT(refusal<DomainError>("profile(points=[(0, 0.3), (1, 0.1), (1.5, 1.2)])"), HasSubstr("row 3"));
  EXPECT_THAT(refusal<DomainError>("profile(points=[(0, 0.3), (-1, 0.1)])"), HasSubstr("row 2"));
}

TEST(Refuse, AMuForATailThatNoGaussianCovers) {
  for (const auto& [plan, tail] : std::initializer_list<std::pair<const char*, const char*>>{
           {"log_family(c=1, sigma=1)", "exponential"}, {"icea(4, 20)", "polynomial"}, {"dp(1, 1e-5)", "floor"}, {"dp(0, 1)", "floor"}}) {
    const GdpMeasurement found = measured(plan);
    EXPECT_EQ(found.verdict, GdpVerdict::not_gdp) << plan;
    EXPECT_EQ(found.mu.lo, infinity) << plan;
    EXPECT_EQ(found.tail.kind, tail) << plan;
    EXPECT_THAT(found.warnings, Contains(HasSubstr("rectify"))) << plan;
  }
}

TEST(Refuse, AGlobalMuWithoutATailCertificateButNotTheHead) {
  const std::string plan = "profile(points=[(0, 0.3), (1, 0.1)])";
  const GdpMeasurement found = measured(plan);
  EXPECT_EQ(found.verdict, GdpVerdict::undecided);
  EXPECT_EQ(found.mu.hi, infinity);
  EXPECT_THAT(found.warnings, Contains(HasSubstr("epsilon_max")));
  const HeadMu head = measure_head_mu(analyze(parse(plan)), Interval::exactly(1));
  EXPECT_LT(head.mu.hi, infinity);
  EXPECT_THAT(head.residual, Encloses(0.1));
}

TEST(Refuse, AMuBelowTheTailLimit) {
  for (const char* plan :
       {"gdp(1) | poisson(0.1)", "sqrt_log_family(2, 1, 2) | refine() | poisson(0.1)", "gaussian(2) | poisson(0.01) | repeat(9)"}) {
    const GdpMeasurement found = measured(plan);
    EXPECT_GE(found.mu.lo, found.tail.limit.lo) << plan;
    EXPECT_GT(found.mu.lo, 0) << plan;
  }
}

TEST(Refuse, AmplificationForOtherNeighbours) {
  EXPECT_THAT(refusal<DomainError>("laplace(1) | sample(1, 2)", Neighbours::zero_out), HasSubstr("neighbours"));
  EXPECT_THAT(refusal<DomainError>("laplace(1) | sample(1, 2)", Neighbours::add_remove), HasSubstr("neighbours"));
  EXPECT_THAT(refusal<DomainError>("laplace(1) | sample_with_replacement(1, 2)", Neighbours::add_remove), HasSubstr("neighbours"));
  EXPECT_THAT(refusal<DomainError>("laplace(1) | poisson(0.5) | sample(1, 2)"), HasSubstr("neighbours"));
}

// The corollary of Renyi DP is refused in tests/limit; delta = 1 as a premise implies nothing.
TEST(Refuse, ToConcludeFromDeltaOne) {
  const Curve curve = analyze(parse("dp(1, 1)"));
  for (const double e : {0.0, 0.5, 1.0, 5.0}) EXPECT_EQ(curve.delta_at(e), Interval::exactly(1)) << e;
}

TEST(Warn, AStatedBoundThatIsNotItsHull) {
  EXPECT_THAT(measured("sqrt_log_family(2, 1, 2)").warnings, Contains(HasSubstr("refine()")));
  EXPECT_THAT(measured("sqrt_log_family(2, 1, 2)").warnings, Contains(HasSubstr("1 at epsilon = 0")));
  EXPECT_THAT(measured("sqrt_log_family(2, 1, 2) | refine()").warnings, IsEmpty());
  EXPECT_THAT(refusal<DomainError>("profile(points=[(0, 0.3), (1, 0.29), (2, 0)])"), HasSubstr("convex"));
}

TEST(Warn, AHeadThatIsStillRising) {
  const Curve curve = analyze(parse("icea(4, 20) | refine()"));
  EXPECT_THAT(measure_head_mu(curve, Interval::exactly(10)).warnings, Contains(HasSubstr("still rising")));
  EXPECT_THAT(measure_head_mu(curve, Interval::exactly(1)).warnings, Not(Contains(HasSubstr("still rising"))));
}

TEST(Warn, HardlyAnyProtection) {
  EXPECT_THAT(measured("gdp(mu=7)").warnings, Contains(HasSubstr("almost no protection")));
  EXPECT_THAT(measured("gdp(mu=5)").warnings, IsEmpty());
  EXPECT_THAT(measure_head_mu(analyze(parse("gdp(mu=7)")), Interval::exactly(1)).warnings, Contains(HasSubstr("almost no protection")));
}

TEST(Warn, SamplingCannotLowerTheLimit) {
  EXPECT_THAT(measured("gdp(1) | poisson(0.1)").warnings, Contains(HasSubstr("the far tail sets this mu")));
  const GdpMeasurement with = measured("laplace(1) | sample_with_replacement(10, 100)");  // the group terms dominate the tail
  EXPECT_THAT(with.mu, Encloses("0.778994982699836532547721139803"));
  EXPECT_GT(with.at_epsilon, 7);
  EXPECT_LT(gdp_transform_at(analyze(parse("laplace(1) | sample_with_replacement(10, 100)")), Interval::exactly(0)).hi, 0.1);
}

TEST(Warn, DeltaBeyondTheDoublesKeepsItsLogarithm) {
  const Curve curve = analyze(parse("gdp(mu=1)"));
  EXPECT_LT(curve.delta_at(100).hi, 1e-300);
  EXPECT_NEAR(curve.log_delta_at(Interval::exactly(100)).hi, -4960.3, 1);
}

TEST(TailHint, CanBeMisleading) {
  // The limit is 0.70711; the transform of the refined bound falls below it near 30.
  const Curve curve = analyze(parse("sqrt_log_family(2, 1, 2) | refine()"));
  EXPECT_LT(gdp_transform_at(curve, Interval::exactly(30)).hi, 0.7048);
  EXPECT_THAT(measured("sqrt_log_family(2, 1, 2) | refine()").tail.limit, Encloses(std::sqrt(0.5)));
  const std::vector<TailHint> hints = tail_hint(curve);
  ASSERT_GT(hints.size(), 4u);
  for (const TailHint& hint : hints) EXPECT_LE(hint.value.lo, hint.value.hi);
  EXPECT_THAT(hints.back().value, Encloses(Interval{0.7071067, 0.7071068}));
  EXPECT_EQ(tail_hint(analyze(parse("laplace(1)"))).back().value, Interval::exactly(0));
  EXPECT_EQ(tail_hint(analyze(parse("dp(0, 1)"))).back().value.hi, infinity);
}

}  // namespace
}  // namespace tradeoff::detail
