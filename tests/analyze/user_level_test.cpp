// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// [user-level-poisson] [poisson-replace-one]
namespace tradeoff {
namespace {

using detail::test::Encloses;
using detail::test::golden_group;
using detail::test::golden_interval;
using detail::test::IsTight;

std::string number(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

bool meet(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }

TEST(UserLevelPoisson, HoldsGoldenRuns) {
  for (const auto& one : golden_group("sampling_schemes.json", "user_poisson_delta")) {
    const auto& inputs = one.at("inputs");
    const std::string plan = "gaussian(sigma=" + number(inputs.at("sigma")) + ") | poisson(rate=" + number(inputs.at("rate")) +
                             ", examples=" + number(inputs.at("examples")) + ") | repeat(" + number(inputs.at("steps")) + ")";
    const Direction direction = inputs.at("direction") == "add" ? Direction::add : Direction::remove;
    for (const Neighbours neighbours : {Neighbours::unstated, Neighbours::add_remove, Neighbours::zero_out}) {
      const Interval delta = analyze(parse(plan), neighbours).delta_at(golden_interval(inputs.at("eps")), direction);
      EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << plan;
      EXPECT_THAT(delta, IsTight(1e-9)) << plan;
    }
  }
}

TEST(UserLevelPoisson, OfOneExampleIsPoissonSampling) {
  for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::zero_out, Neighbours::replace_one}) {
    const Curve one = analyze(parse("gaussian(sigma=1, clip=1) | poisson(rate=0.01, examples=1) | repeat(100)"), neighbours);
    const Curve plain = analyze(parse("gaussian(sigma=1, clip=1) | poisson(rate=0.01) | repeat(100)"), neighbours);
    EXPECT_EQ(one.delta_at(Interval::exactly(1)), plain.delta_at(Interval::exactly(1)));
  }
}

TEST(UserLevelPoisson, AtRateOneIsAGroup) {
  const Interval user = analyze(parse("gaussian(sigma=2) | poisson(rate=1, examples=3)")).delta_at(Interval::exactly(1));
  const Interval group = analyze(parse("gaussian(sigma=2) | group(3)")).delta_at(Interval::exactly(1));
  EXPECT_TRUE(meet(user, group));
  EXPECT_EQ(analyze(parse("gaussian(sigma=2) | poisson(rate=0, examples=3)")).delta_at(Interval::exactly(0)).hi, 0);
}

TEST(UserLevelPoisson, GrowsWithTheExamples) {
  double before = 0;
  for (const std::string examples : {"1", "2", "5", "12"}) {
    const Curve curve = analyze(parse("gaussian(sigma=2) | poisson(rate=0.02, examples=" + examples + ") | repeat(200)"));
    const Interval delta = curve.delta_at(Interval::exactly(1));
    EXPECT_GT(delta.lo, before) << examples;
    before = delta.hi;
  }
}

// Rule 7 of the note: a clip norm of 1 is the pair of the golden values.
TEST(PoissonUnderReplaceOne, HoldsGoldenRunsWithAClipNorm) {
  for (const auto& one : golden_group("sampling_schemes.json", "poisson_replace_delta")) {
    const auto& inputs = one.at("inputs");
    const std::string plan = "gaussian(sigma=" + number(inputs.at("sigma")) + ", clip=1) | poisson(rate=" + number(inputs.at("rate")) +
                             ") | repeat(" + number(inputs.at("steps")) + ")";
    const Curve curve = analyze(parse(plan), Neighbours::replace_one);
    for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
      const Interval delta = curve.delta_at(golden_interval(inputs.at("eps")), direction);
      EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << plan;
      EXPECT_THAT(delta, IsTight(1e-9)) << plan;
    }
  }
}

// Without a clip norm: with probability rate a Gaussian of the whole distance, otherwise nothing.
TEST(PoissonUnderReplaceOne, IsTheObservedMixtureWithoutAClipNorm) {
  for (const std::string base : {"gaussian(sigma=1, sensitivity=2)", "gdp(mu=2)", "laplace(scale=1)", "dp(epsilon=1)"})
    for (const double epsilon : {-1.0, 0.0, 0.5, 3.0}) {
      const Interval sampled = analyze(parse(base + " | poisson(rate=0.25)"), Neighbours::replace_one).delta_at(Interval::exactly(epsilon));
      const Interval mixed = analyze(parse("mixture(components=[(0.25, " + base + "), (0.75, dp(epsilon=0))])"), Neighbours::replace_one)
                                 .delta_at(Interval::exactly(epsilon));
      EXPECT_TRUE(meet(sampled, mixed)) << base << " " << epsilon;
    }
  // The clip norm is worth something: half the distance on each side of 0 is hidden by the sampling.
  const auto delta = [](const std::string& plan) { return analyze(parse(plan), Neighbours::replace_one).delta_at(Interval::exactly(1)); };
  EXPECT_LT(delta("gaussian(sigma=1, clip=1) | poisson(rate=0.01)").hi, delta("gaussian(sigma=1, sensitivity=2) | poisson(rate=0.01)").lo);
}

TEST(PoissonUnderReplaceOne, SeveralExamples) {
  const auto delta = [](const std::string& plan) { return analyze(parse(plan), Neighbours::replace_one).delta_at(Interval::exactly(0.5)); };
  const Interval clipped = delta("gaussian(sigma=2, clip=1) | poisson(rate=0.1, examples=2)");
  const Interval open = delta("gaussian(sigma=2, sensitivity=2) | poisson(rate=0.1, examples=2)");
  EXPECT_GT(clipped.lo, delta("gaussian(sigma=2, clip=1) | poisson(rate=0.1)").hi);
  EXPECT_GT(open.lo, clipped.hi);
  // 2 * 0.1 * 0.9 of one Gaussian and 0.01 of two.
  const Interval one = delta("gaussian(sigma=2, sensitivity=2)"), two = delta("gaussian(sigma=1, sensitivity=2)");
  EXPECT_NEAR(detail::middle_of(open), 0.18 * one.hi + 0.01 * two.hi, 1e-12);
}

/// The message of the error that the plan gives.
template <class Error>
std::string refusal(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)analyze(parse(plan), neighbours);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(UserLevelPoisson, RefusesWhatIsNotProved) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal<UnsupportedError>("laplace(scale=1) | poisson(rate=0.1, examples=2)"), HasSubstr("Gaussian noise"));
  EXPECT_THAT(refusal<UnsupportedError>("gdp(mu=1) | poisson(rate=0.1, examples=2)"), HasSubstr("Gaussian noise"));
  EXPECT_THAT(refusal<DomainError>("gaussian(sigma=1) | poisson(rate=0.1, examples=2) | group(2)"), HasSubstr("examples"));
  EXPECT_THAT(refusal<DomainError>("gaussian(sigma=1) | poisson(rate=0.1, examples=2) | poisson(rate=0.1)"), HasSubstr("poisson"));
  EXPECT_THAT(refusal<DomainError>("gaussian(sigma=1) | poisson(rate=0.1, examples=2); gaussian(sigma=1) | poisson(rate=0.1)"),
              HasSubstr("examples"));
  EXPECT_THAT(refusal<DomainError>("gaussian(sigma=1) | poisson(rate=0.1, examples=2); gaussian(sigma=1) | group(2)"),
              HasSubstr("examples"));
  EXPECT_THAT(refusal<DomainError>("gaussian(sigma=1) | poisson(rate=0.1, examples=2); gaussian(sigma=1) | sample(rate=0.1)",
                                   Neighbours::replace_one),
              HasSubstr("examples"));
  EXPECT_THAT(refusal<DomainError>("gaussian(sigma=1) | poisson(rate=0.1, examples=0)"), HasSubstr("examples"));
  EXPECT_THAT(refusal<TooLargeError>("gaussian(sigma=1) | poisson(rate=0.1, examples=100000)"), HasSubstr("examples"));
  // A line that samples nothing must say how far all records of a user move its result, also inside another.
  const std::string user = "gaussian(sigma=1) | poisson(rate=0.1, examples=2); ";
  for (const char* line :
       {"laplace(scale=9)", "gaussian(sigma=9)", "(laplace(scale=9); gdp(mu=1))", "mixture([(0.5, laplace(scale=9)), (0.5, gdp(mu=1))])"})
    EXPECT_THAT(refusal<DomainError>(user + line), HasSubstr("state sensitivity")) << line;
  // So stated, and with other caps, all lines speak of users.
  for (const char* line : {"laplace(scale=9, sensitivity=2)", "gaussian(sigma=9, sensitivity=1)", "gdp(mu=1)",
                           "gaussian(sigma=3) | poisson(rate=0.2, examples=4)"})
    EXPECT_NO_THROW((void)analyze(parse(user + line))) << line;
}

}  // namespace
}  // namespace tradeoff
