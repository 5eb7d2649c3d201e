// SPDX-License-Identifier: Apache-2.0
// Audits of one run: mechanisms whose number of right guesses is known exactly. [one-run-audit]
#include "audit/one_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/binomial.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::audit {
namespace {

std::vector<Line> lines_of(const char* plan) { return claim_of(analyze(parse(plan)), Direction::worst).lines[0]; }

/// P(Binomial(n, q) >= k), by its sum.
double tail(int n, double q, int k) {
  double sum = 0;
  for (int j = k; j <= n; ++j)
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(j + 1.0) - std::lgamma(n - j + 1.0) + j * std::log(q) + (n - j) * std::log(1 - q));
  return sum;
}

TEST(OneRun, IsExactForIndependentRandomisedResponse) {
  const std::vector<Line> lines = lines_of("dp(epsilon=1)");
  const double q = 1 / (1 + std::exp(-1.0));
  for (const int right : {70, 80, 85, 95}) {
    const double bound = chance_above({100, 100, static_cast<std::uint64_t>(right)}, lines), truth = tail(100, q, right);
    EXPECT_GE(bound, truth * (1 - 1e-9));
    EXPECT_LE(bound, truth * (1 + 1e-6));
  }
}

TEST(OneRun, BoundsMechanismsThatLeakEverythingAtOnce) {
  // With probability d all coins are published, otherwise randomised response: (epsilon, d)-DP, and all guesses are right at once.
  for (const double d : {1e-3, 0.05}) {
    for (const double epsilon : {0.5, 2.0}) {
      const Line line = line_at(epsilon, d);
      const double q = 1 / (1 + std::exp(-epsilon));
      for (const int right : {40, 60, 64})
        EXPECT_GE(chance_above({64, 64, static_cast<std::uint64_t>(right)}, {line}), d + (1 - d) * tail(64, q, right))
            << d << epsilon << right;
    }
  }
}

TEST(OneRun, BoundsMechanismsThatLeakOneCoinEach) {
  // Each coin is published with probability d on its own, as a right guess; the others by randomised response: (epsilon, d)-DP each.
  const double d = 0.02, epsilon = 0.5, q = 1 / (1 + std::exp(-epsilon)), right_rate = d + (1 - d) * q;
  for (const int right : {130, 140, 150})
    EXPECT_GE(chance_above({200, 200, static_cast<std::uint64_t>(right)}, {line_at(epsilon, d)}), tail(200, right_rate, right));
}

TEST(OneRun, BoundsIndependentGaussianCanaries) {
  const std::vector<Line> lines = lines_of("gaussian(sigma=1)");
  const double right_rate = 0.6914624612740131;  // Phi(1/2)
  for (const int right : {60, 70, 80, 90})
    EXPECT_GE(chance_above({100, 100, static_cast<std::uint64_t>(right)}, lines), tail(100, right_rate, right));
}

TEST(OneRun, BoundsGaussianCanariesThatShareTheirSize) {
  // All log-likelihood ratios have the same size |L|, L = 1/2 + Z: each guess is right with probability 1/(1 + e^-|L|), given |L|.
  const std::vector<Line> lines = lines_of("gaussian(sigma=1)");
  for (const int right : {70, 80, 90}) {
    double truth = 0;
    constexpr double step = 0.01;
    for (double x = -8; x < 9; x += step) {
      const double q = 1 / (1 + std::exp(-std::abs(x)));
      truth += step * std::exp(-(x - 0.5) * (x - 0.5) / 2) / std::sqrt(2 * M_PI) * tail(100, std::min(q, 1 - 1e-12), right);
    }
    EXPECT_GE(chance_above({100, 100, static_cast<std::uint64_t>(right)}, lines), truth * 0.999) << right;
  }
}

TEST(OneRun, LowerBoundsOnEpsilonAreBelowTheBinomialOnes) {
  EXPECT_EQ(epsilon_below({1000, 1000, 500}, 0, 0.01), 0);
  const double pure = epsilon_below({1000, 1000, 900}, 0, 0.01), approximate = epsilon_below({1000, 1000, 900}, 1e-5, 0.01);
  EXPECT_NEAR(pure, 1.97, 0.03);  // logit of the Clopper-Pearson bound 0.8763 of 900/1000 at 99 %
  EXPECT_LE(approximate, pure);
  EXPECT_GT(approximate, 1.8);
  EXPECT_EQ(epsilon_below({1000, 1000, 900}, 0.5, 0.01), 0);  // nothing can be shown
  EXPECT_GT(epsilon_below({1000, 100, 100}, 1e-6, 0.01), 2.5);
}

TEST(OneRun, LowerBoundsOnMu) {
  const double mu = mu_below({10000, 200, 199}, 0.01);
  EXPECT_GT(mu, 0.2);
  EXPECT_LT(mu, 8);
  EXPECT_EQ(mu_below({100, 100, 50}, 0.01), 0);
  EXPECT_LE(mu_below({1000, 1000, 700}, 0.01), 2 * 0.5244005127);  // independent canaries of this rate have mu = 2 Phi^-1(0.7)
}

TEST(OneRun, GuessesTheExtremes) {
  std::vector<Canary> canaries;
  for (int i = 0; i < 10; ++i) canaries.push_back({static_cast<double>(i), i >= 5});
  EXPECT_EQ(guess(canaries, 10).right, 10U);
  EXPECT_EQ(guess(canaries, 4).right, 4U);
  for (Canary& canary : canaries) canary.included = !canary.included;
  EXPECT_EQ(guess(canaries, 10).right, 0U);
  EXPECT_THAT(numbers_of_guesses(100), testing::ElementsAre(100, 50, 25));
}

TEST(OneRun, EqualScoresTellNothingHoweverTheRowsAreSorted) {
  std::vector<Canary> canaries;
  for (int i = 0; i < 2000; ++i) canaries.push_back({1.0, i < 1000});
  for (int turn = 0; turn < 2; ++turn) {
    const OneRun found = judge_one_run(guess_all(canaries), lines_of("dp(epsilon=0.1)"), 1e-6, 0.001);
    EXPECT_GT(found.chance, 0.05);
    EXPECT_EQ(found.epsilon_below, 0);
    std::reverse(canaries.begin(), canaries.end());
  }
}

TEST(OneRun, SeveralNumbersOfGuessesShareTheError) {
  std::vector<Canary> canaries;
  for (int i = 0; i < 64; ++i) canaries.push_back({static_cast<double>(i), i >= 32});
  const std::vector<Guesses> trials = guess_all(canaries);
  ASSERT_EQ(trials.size(), 3U);
  const std::vector<Line> lines = lines_of("dp(epsilon=1)");
  const OneRun found = judge_one_run(trials, lines, 0, 0.001);
  EXPECT_EQ(found.best.made, 64U);
  EXPECT_NEAR(found.chance, 3 * chance_above({64, 64, 64}, lines), 1e-15);
  EXPECT_EQ(found.epsilon_below, epsilon_below({64, 64, 64}, 0, numeric::divide_down(0.001, 3)));
}

TEST(OneRun, RefusesImpossibleCounts) {
  EXPECT_THROW((void)epsilon_below({10, 11, 5}, 0, 0.01), DomainError);
  EXPECT_THROW((void)epsilon_below({10, 5, 6}, 0, 0.01), DomainError);
  EXPECT_THROW((void)chance_above({0, 0, 0}, lines_of("dp(epsilon=1)")), DomainError);
  EXPECT_THROW((void)epsilon_below({10, 5, 5}, 1.5, 0.01), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail::audit
