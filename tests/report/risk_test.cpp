// SPDX-License-Identifier: Apache-2.0
// Every number of the risk must hold for every mechanism that the plan covers, not only for the pair of distributions that the library
// uses. So brute-force attacks on finite mechanisms that are certainly covered must not exceed it. [odds-factor] [membership-posterior]
// [naming-chance] [slack-pair]
#include "report/risk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "numeric/arithmetic.h"
#include "support/finite_attack.h"
#include "support/matchers.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/gdp.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::report {
namespace {

using test::FinitePair;
using testing::HasSubstr;

constexpr double rounding = 1e-9;  // of the brute force, relatively

double number(const std::string& text) { return read_number(text).value.hi; }

/// Phi and its inverse, in plain doubles.
double normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double normal_point(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) (normal((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return low;
}

/// The success of the attacker on the mechanism must be within the stated risk.
void expect_covered(const Risk& risk, const FinitePair& pair, bool replace_one) {
  const auto expect = [](double reached, Interval claimed, const std::string& what) {
    EXPECT_LE(reached, claimed.hi * (1 + rounding) + 1e-12) << what;
  };
  expect(total_variation(pair), risk.advantage, "advantage");
  for (const RiskRow& row : risk.rates) expect(best_rate(pair, number(row.given)), row.value, "rate at " + row.given);
  for (const RiskRow& row : risk.accuracies) expect(best_accuracy(pair, number(row.given)), row.value, "accuracy at " + row.given);
  for (const RiskRow& row : risk.posteriors) expect(largest_posterior(pair, number(row.given)), row.value, "posterior at " + row.given);
  for (const RiskRow& row : risk.naming) {
    const double people = number(row.given);
    expect(replace_one ? naming_with_each_other(pair, people) : naming_without(pair, people), row.value, "naming of " + row.given);
  }
  for (const RiskRow& row : risk.odds)
    EXPECT_LE(chance_of_more_than(pair, row.value.hi * (1 + rounding)), number(row.given) * (1 + rounding)) << "odds at " << row.given;
  const double rare = number(risk.rare), factor = odds_factor_of(pair, rare);
  for (const RiskRow& row : risk.beliefs) {
    const double prior = number(row.given);
    expect(factor < infinity ? prior * factor / (prior * factor + 1 - prior) : 1, row.value, "belief at " + row.given);
  }
  const double slack = number(risk.gaussian.given);
  for (const double level : {1e-6, 1e-3, 0.01, 0.1, 0.5, 0.9}) {
    const double hardest = slack + (1 - slack) * normal(normal_point(std::min(1.0, level / (1 - slack))) + risk.gaussian.value.hi);
    EXPECT_LE(best_rate(pair, level), hardest * (1 + rounding) + 1e-12) << "mu at " << level;
  }
}

/// Mechanisms that the plan covers because they are post-processings of it: by a random channel, or by a threshold.
void expect_all_covered(const Risk& risk, const FinitePair& law, bool replace_one, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<FinitePair> told = {law};
  for (const std::size_t outputs : {2U, 3U, 6U}) told.push_back(through_a_channel(law, outputs, random));
  for (const RiskRow& row : risk.odds)
    for (const double more : {1e-6, uniform(random)}) told.push_back(told_if_telling(law, std::min(1.0, number(row.given) * (1 + more))));
  told.push_back(told_if_telling(law, uniform(random)));
  for (const FinitePair& pair : told) {
    expect_covered(risk, pair, replace_one);
    expect_covered(risk, exchanged(pair), replace_one);
  }
}

std::vector<double> random_chances(std::size_t count, std::vector<int>& weights, std::mt19937_64& random) {
  std::uniform_int_distribution<int> weight(0, 12);
  std::vector<double> chances(count);
  int total = 0;
  weights.assign(count, 0);
  while (total == 0)
    for (int& one : weights) total += (one = std::max(0, weight(random) - 3));
  for (std::size_t i = 0; i < count; ++i) chances[i] = static_cast<double>(weights[i]) / total;
  return chances;
}

std::string listed(const std::vector<int>& weights) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  std::string list;
  for (const int one : weights) list += (list.empty() ? "" : ", ") + std::to_string(one) + "/" + std::to_string(total);
  return "[" + list + "]";
}

TEST(Risk, HoldsForWhatRandomPairsCover) {
  std::mt19937_64 random(19);
  const int trials = test::scaled(25);
  for (int trial = 0; trial < trials; ++trial) {
    const std::size_t outcomes = 2 + random() % 5;
    std::vector<int> with, without;
    const FinitePair one{random_chances(outcomes, with, random), random_chances(outcomes, without, random)};
    const bool twice = trial % 3 == 0, replace_one = trial % 2 == 0;
    const std::string plan = "pair(p=" + listed(with) + ", q=" + listed(without) + ")" + (twice ? " | repeat(2)" : "");
    SCOPED_TRACE(plan);
    const Risk risk = find_risk(analyze(parse(plan), replace_one ? Neighbours::replace_one : Neighbours::add_remove));
    expect_all_covered(risk, twice ? both(one, one) : one, replace_one, random);
  }
}

TEST(Risk, HoldsForWhatIsKnownOnlyByAGuarantee) {
  // Convex functions lie below their chords: a polygon between points of the trade-off function is a mechanism that the plan covers.
  struct Known {
    std::string plan;
    std::function<double(double)> beta;
  };
  const auto gaussian = [](double mu) { return [mu](double alpha) { return normal(-normal_point(alpha) - mu); }; };
  const auto approximate = [](double epsilon, double delta) {
    return [=](double alpha) { return std::max({0.0, 1 - delta - std::exp(epsilon) * alpha, std::exp(-epsilon) * (1 - delta - alpha)}); };
  };
  const std::vector<Known> plans = {{"gdp(mu=1)", gaussian(1)},
                                    {"gdp(mu=0.2)", gaussian(0.2)},
                                    {"gaussian(sigma=1) | repeat(2)", gaussian(std::sqrt(2.0))},
                                    {"dp(epsilon=1, delta=5e-6)", approximate(1, 5e-6)},
                                    {"dp(epsilon=0.3)", approximate(0.3, 0)},
                                    {"constraints([(1, 0.001), (0.2, 0.05)])",
                                     [=](double alpha) { return std::max(approximate(1, 0.001)(alpha), approximate(0.2, 0.05)(alpha)); }}};
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Known& known : plans) {
    SCOPED_TRACE(known.plan);
    const Risk risk = find_risk(analyze(parse(known.plan)));
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<std::pair<double, double>> points;
      for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
        const double alpha = trial % 2 == 0 ? uniform(random) : std::pow(10, -5 * uniform(random));
        points.emplace_back(alpha, known.beta(alpha));
      }
      // The most informative test of a probability just above a stated one.
      if (trial % 4 == 0) points = {{known.beta(1 - 1.000001e-5), 1 - 1.000001e-5}};
      if (trial % 4 == 1) points.emplace_back(known.beta(1 - 0.01000001), 1 - 0.01000001);
      expect_covered(risk, test::polygon(points), false);
      expect_covered(risk, exchanged(test::polygon(points)), false);
    }
  }
}

TEST(Risk, StatesHowOftenAnOutputMayRevealMore) {
  const Risk risk = find_risk(analyze(parse("gdp(mu=1)")));
  EXPECT_EQ(risk.rare, "1e-5");
  for (const RiskRow& row : risk.posteriors) EXPECT_EQ(row.value.hi, 1);
  // 142.579 times the odds 1/99.
  EXPECT_NEAR(risk.beliefs.front().value.hi, 142.57940394470322 / (142.57940394470322 + 99), 1e-9);
  const Risk revealed = find_risk(analyze(parse("dp(epsilon=1, delta=0.1)")));
  for (const RiskRow& row : revealed.beliefs) EXPECT_EQ(row.value.lo, 1);
  EXPECT_THAT(plain_sentences(revealed)[3], HasSubstr("In 1 of 100000 runs, or more often, an output may reveal"));
}

TEST(Risk, ClaimsNoSlackSmallerThanTheOneThatWasProved) {
  const Risk risk = find_risk(analyze(parse("dp(epsilon=1, delta=1e-5)")));
  const GdpPair pair = measure_mu(analyze(parse("dp(epsilon=1, delta=1e-5)")), {read_number("1e-5").value}).with_slack.front();
  EXPECT_GE(number(risk.gaussian.given), pair.slack.hi);
  const Risk other = find_risk(analyze(parse("gdp(mu=1)")));
  EXPECT_EQ(other.gaussian.given, "1e-5");
}

// [membership-posterior] Where no output changes what is likelier, the accuracy is the prior or its complement, exactly.
TEST(Risk, TheAccuracyOfAConstantGuessIsExact) {
  const Curve weak = analyze(parse("dp(epsilon=0.99)"));
  const auto exact = [](const Curve& curve, const char* prior) {
    return exact_accuracy(curve, prior, curve.posterior_at(read_number(prior).value).accuracy);
  };
  EXPECT_EQ(exact(weak, "0.01"), "0.99");
  EXPECT_EQ(exact(weak, "0.9"), "0.9");
  EXPECT_EQ(exact(weak, "1/4"), "0.75");
  EXPECT_EQ(exact(weak, "2/7"), "");  // log(5/2) < 0.99
  EXPECT_EQ(exact(weak, "0.5"), "");
  EXPECT_EQ(exact(analyze(parse("gaussian(sigma=20)")), "0.01"), "");
  EXPECT_THAT(to_lines(find_risk(weak), {}),
              HasSubstr("accuracy of the best guess <= 0.99 at prior 0.01 (guessing: 0.99)\n      exactly 0.99\n"));
  for (const char* prior : {"0.01", "0.1", "0.2", "0.8", "0.97"})
    EXPECT_THAT(weak.posterior_at(read_number(prior).value).accuracy, test::Encloses(std::max(number(prior), 1 - number(prior)))) << prior;
}

}  // namespace
}  // namespace tradeoff::detail::report
