// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tradeoff/tradeoff.h"

namespace tradeoff::detail {
namespace {

TEST(Builder, WritesTheSamePlanAsText) {
  EXPECT_EQ(plan::gaussian(1.1).poisson("256/60000").repeat(14063).plan(),
            parse("gaussian(sigma=1.1, sensitivity=1) | poisson(rate=256/60000) | repeat(times=14063)"));
  EXPECT_EQ(plan::laplace(2).repeat(50).beside(plan::dp(0.5, "1e-6")).group(3).plan(),
            parse("(laplace(2, 1) | repeat(50); dp(0.5, 1e-6)) | group(3)"));
  EXPECT_EQ(plan::constraints({{1, 0}, {0.5, 0.1}}).plan(), parse("constraints([(1, 0), (0.5, 0.1)])"));
  EXPECT_EQ(plan::pair({0.5, "1/2"}, {1, 0}).plan(), parse("pair(p=[0.5, 1/2], q=[1, 0])"));
  EXPECT_EQ(plan::Builder("discrete_laplace", {{"scale", 3}}).then("sample", {{"rate", 0.25}}).plan(),
            parse("discrete_laplace(scale=3) | sample(rate=0.25)"));
  EXPECT_EQ(plan::gaussian(1).then("poisson", {{"rate", 0.5}, {"examples", 3}}).plan(),
            parse("gaussian(1, sensitivity=1) | poisson(0.5, examples=3)"));
  EXPECT_EQ(plan::gaussian(1).beside(plan::laplace(2)).then_text("group(size=2)").plan(),
            parse("(gaussian(1, sensitivity=1); laplace(2, 1)) | group(2)"));
  EXPECT_EQ(plan::gaussian("?").plan(), parse("gaussian(sigma=?, sensitivity=1)"));
}

// tools/check_words.py compares the parameters of each with the words of the language.
TEST(Builder, NamesTheArgumentsOfEachWord) {
  const plan::Builder sources[] = {plan::gaussian(1),
                                   plan::laplace(1),
                                   plan::discrete_gaussian(1),
                                   plan::zcdp(1),
                                   plan::gdp(1),
                                   plan::discrete_laplace(1),
                                   plan::rdp({{2, 1}}),
                                   plan::dp(1),
                                   plan::truncated_laplace(1, 2),
                                   plan::icea(2, 3),
                                   plan::log_family(1, 2),
                                   plan::truncated_discrete_laplace(1, 2),
                                   plan::sqrt_log_family(1, 1, 2),
                                   plan::randomized_response(1),
                                   plan::skellam(3),
                                   plan::binomial_noise(9),
                                   plan::discrete_gaussian_sum(1, 3),
                                   plan::discrete_laplace_sum(1, 3),
                                   plan::exponential(1),
                                   plan::noisy_max("gumbel", 1)};
  for (const plan::Builder& source : sources) EXPECT_NO_THROW((void)analyze(source)) << source.text();
  EXPECT_EQ(plan::truncated_discrete_laplace(3, 4).plan(), parse("truncated_discrete_laplace(scale=3, bound=4, sensitivity=1)"));
  EXPECT_EQ(plan::sqrt_log_family(1, 2, 3).plan(), parse("sqrt_log_family(1, 2, 3)"));
  EXPECT_EQ(plan::log_family(1, 2).plan(), parse("log_family(1, 2)"));
  EXPECT_EQ(plan::icea(4, 5).plan(), parse("icea(4, 5)"));
  const plan::Builder noise = plan::gaussian(1);
  for (const plan::Builder& applied : {noise.sample(1, 2), noise.sample_with_replacement(1, 2), noise.rectify(1, 0, 2), noise.invert(),
                                       noise.refine(), noise.cyclic(2, 0.5, 4), noise.allocate(3), noise.shuffle(2)})
    EXPECT_NO_THROW((void)analyze(applied)) << applied.text();
}

TEST(Builder, GivesTheSameAnswersAsText) {
  const Curve built = analyze(plan::gaussian(1.1).poisson("256/60000").repeat(14063));
  const Curve read = analyze(parse("gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)"));
  EXPECT_EQ(built.epsilon_at(1e-5), read.epsilon_at(1e-5));
}

TEST(Builder, ReadsADoubleAsItsShortestDecimal) {
  EXPECT_EQ(plan::Amount(0.1).text(), "0.1");
  const Number number = read_number(plan::Amount(0.1 + 0.2).text());
  EXPECT_TRUE(number.value.contains(0.1 + 0.2));
}

TEST(Builder, RefusesInvalidNumbersAndUnknownWords) {
  EXPECT_THROW((void)plan::gaussian(std::numeric_limits<double>::quiet_NaN()), DomainError);
  EXPECT_THROW((void)plan::gaussian(std::numeric_limits<double>::infinity()), DomainError);
  EXPECT_THROW((void)plan::gaussian("1) | repeat(0"), ParseError);
  EXPECT_THROW((void)plan::Builder("gausian", {{"sigma", 1}}).plan(), ParseError);
  EXPECT_THROW((void)analyze(plan::gaussian(-1)), DomainError);
}

TEST(Curve, TakesEveryKindOfLevelAndADirection) {
  const Curve curve = analyze(plan::dp(1, 1e-3), Neighbours::add_remove);
  EXPECT_EQ(curve.tpr_at(0.01), curve.tpr_at(Interval::exactly(0.01)));
  EXPECT_EQ(curve.delta_at(1.0, Direction::remove), curve.delta_at(Interval::exactly(1), Direction::remove));
  EXPECT_EQ(curve.advantage(Direction::add), curve.delta_at(0, Direction::add));
  EXPECT_EQ(curve.epsilon_at(read_number("1e-3")).hi, 1);
  EXPECT_THROW((void)curve.beta_at(std::numeric_limits<double>::quiet_NaN()), DomainError);
}

// With prior 0.6 of the first data set the best guess is right with probability sum max(0.6 P, 0.4 Q).
TEST(Curve, AnswersThePosteriorOfTheFirstDataSetOfADirection) {
  const Curve curve = analyze(plan::pair({0.7, 0.3}, {0.4, 0.6}), Neighbours::add_remove);
  const Interval prior = read_number("0.6").value;
  const Posterior with = curve.posterior_at(prior, Direction::remove), without = curve.posterior_at(prior, Direction::add);
  EXPECT_NEAR(with.accuracy.hi, 0.42 + 0.24, 1e-9);
  EXPECT_NEAR(without.accuracy.hi, 0.28 + 0.36, 1e-9);
  EXPECT_NEAR(with.largest.hi, 0.42 / 0.58, 1e-9);
  EXPECT_NEAR(without.largest.hi, 0.36 / 0.48, 1e-9);
  EXPECT_TRUE(with.accuracy.lo <= 0.66 + 1e-15 && without.accuracy.lo <= 0.64 + 1e-15);
}

}  // namespace
}  // namespace tradeoff::detail
