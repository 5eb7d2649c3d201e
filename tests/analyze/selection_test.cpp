// SPDX-License-Identifier: Apache-2.0
// [adaptive-block] [noisy-max-reduction] [noisy-max-gaussian]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/builder.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Curve curve_of(const std::string& text, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(text), neighbours); }
Interval delta_of_plan(const std::string& text, double epsilon) { return curve_of(text).delta_at(epsilon); }

bool meet(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }

std::string refusal_of(const std::string& text, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)curve_of(text, neighbours).delta_at(1.0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string theorems_of(const std::string& text, double epsilon) {
  std::string names;
  const Curve curve = curve_of(text);
  for (const Step& step : explained([&] { return curve.delta_at(epsilon); }).steps) names += step.theorem + " ";
  return names;
}

TEST(Exponential, PlansOfTheGoldenTableAreEnclosed) {
  for (const char* group : {"br_single", "br_adaptive"})
    for (const auto& entry : test::golden_group("selection.json", group)) {
      const Curve curve = analyze(parse(entry["plan"].get<std::string>()));
      const Interval delta = curve.delta_at(read_number(entry["inputs"]["e"].get<std::string>()));
      EXPECT_THAT(delta, Encloses(entry["value"].get<std::string>())) << entry["id"];
      EXPECT_THAT(delta, IsTight(1e-5)) << entry["id"];
    }
}

TEST(Exponential, OtherArgumentsMeanTheSameRange) {
  const Interval one = delta_of_plan("exponential(epsilon=1) | repeat(3)", 1.1);
  EXPECT_EQ(delta_of_plan("exponential(weight=0.5) | repeat(3)", 1.1), one);
  EXPECT_EQ(delta_of_plan("exponential(weight=0.25, sensitivity=2) | repeat(3)", 1.1), one);
  EXPECT_EQ(delta_of_plan("exponential(weight=1, monotone=true) | repeat(3)", 1.1), one);
  EXPECT_EQ(delta_of_plan("noisy_max(noise=gumbel, scale=2) | repeat(3)", 1.1), one);
  EXPECT_EQ(delta_of_plan("noisy_max(noise=gumbel, scale=2, top=3)", 1.1), one);
  EXPECT_EQ(delta_of_plan("exponential(1); noisy_max(noise=gumbel, scale=2, top=2)", 1.1), one);
  EXPECT_EQ(delta_of_plan("exponential(epsilon=0) | repeat(3)", 0), Interval::exactly(0));
}

TEST(Exponential, LinesOfOneRangeAreOneBlockWhereverTheyStand) {
  const Interval whole = delta_of_plan("exponential(0.5) | repeat(4)", 0.6);
  EXPECT_EQ(delta_of_plan("exponential(0.5); exponential(0.5) | repeat(2); exponential(0.5)", 0.6), whole);
  EXPECT_EQ(delta_of_plan("(exponential(0.5) | repeat(2)) | repeat(2)", 0.6), whole);
  EXPECT_EQ(delta_of_plan("exponential(1/2) | repeat(4)", 0.6), whole);
  EXPECT_THAT(theorems_of("exponential(0.5) | repeat(4)", 0.6), HasSubstr("bounded-range-adaptive"));
  const Interval mixed = delta_of_plan("exponential(0.5) | repeat(2); gaussian(3); exponential(0.5) | repeat(2)", 0.9);
  EXPECT_TRUE(meet(mixed, delta_of_plan("gaussian(3); exponential(0.5) | repeat(4)", 0.9)));
  EXPECT_GT(mixed.lo, delta_of_plan("exponential(0.5) | repeat(4)", 0.9).hi);
  EXPECT_THAT(mixed, IsTight(1e-4));
}

TEST(Exponential, LiesBetweenFixedChoicesAndTheProductOfPairs) {
  const auto product = test::golden_group("selection.json", "br_product");
  for (const auto& entry : product) {
    const auto& inputs = entry["inputs"];
    const std::string plan = "exponential(" + inputs["eps"].get<std::string>() + ") | repeat(" + inputs["k"].dump() + ")";
    const Interval delta = analyze(parse(plan)).delta_at(read_number(inputs["e"].get<std::string>()));
    EXPECT_LT(delta.hi, test::golden_double(entry["value"])) << entry["id"];
  }
  for (const auto& entry : test::golden_group("selection.json", "br_nonadaptive")) {
    const auto& inputs = entry["inputs"];
    const std::string plan = "exponential(" + inputs["eps"].get<std::string>() + ") | repeat(" + inputs["k"].dump() + ")";
    EXPECT_GE(analyze(parse(plan)).delta_at(read_number(inputs["e"].get<std::string>())).hi,
              test::golden_double(entry["value"]) * (1 - 1e-12));
  }
  // The cost of adaptive choices: 0.288317 with fixed ones, 0.303365 with adaptive ones.
  EXPECT_GT(delta_of_plan("exponential(1) | repeat(2)", 0).lo, 0.3033);
}

TEST(Exponential, SeveralRangesAreOneBlockInTheWorstOrder) {
  const Interval two = delta_of_plan("exponential(1); exponential(1.0000000001)", 0);
  EXPECT_THAT(two, Encloses(0.30336549648318225911));  // of two equal ranges: at most 1e-10 less
  EXPECT_THAT(two, IsTight(1e-6));
  // The wider one last costs 0.35877, the wider one first up to 0.011 less; the plan does not say which comes first.
  const Interval orders = delta_of_plan("exponential(2); exponential(0.5)", 0.4);
  EXPECT_EQ(delta_of_plan("exponential(0.5); exponential(2)", 0.4), orders);
  EXPECT_GT(orders.hi, 0.358767889);  // reached by 401 choices of t for each step, in either order
  EXPECT_THAT(orders, IsTight(1e-6));
  EXPECT_THAT(theorems_of("exponential(1); exponential(2)", 0), AllOf(HasSubstr("adaptive-block"), Not(HasSubstr("bracketed-pair"))));
  const Interval between = delta_of_plan("exponential(1); gaussian(3); exponential(0.5); exponential(1)", 0.8);
  EXPECT_THAT(between, IsTight(1e-4));
  EXPECT_GT(between.lo, delta_of_plan("exponential(1) | repeat(2); gaussian(3)", 0.8).hi);
  EXPECT_LT(between.hi, delta_of_plan("exponential(1) | repeat(3); gaussian(3)", 0.8).lo);
}

TEST(Exponential, RangesWithoutACommonGridEnterByTheirPairs) {
  const char* const plan = "exponential(0.1) | repeat(20); exponential(0.00000314159)";
  EXPECT_THAT(theorems_of(plan, 0.8), HasSubstr("bracketed-pair"));
  const Interval delta = delta_of_plan(plan, 0.8);
  EXPECT_LE(delta.lo, delta.hi);  // bounds on the fixed pairs from below are none of the block
  EXPECT_GT(delta.hi, delta_of_plan("exponential(0.1) | repeat(20)", 0.8).lo);
  EXPECT_LT(delta.lo, delta_of_plan("exponential(0.1) | repeat(21)", 0.8).hi);
}

// The worst profile of one or several choices belongs to no pair: products of it are no lower ends.
TEST(Exponential, LowerEndsOfChoicesUnderOperatorsAreReached) {
  const double truth = curve_of("exponential(0.5) | repeat(4)", Neighbours::add_remove).delta_at(0.6).hi;
  for (const char* const plan : {"(exponential(0.5); gaussian(sigma=1e9)) | poisson(rate=1) | repeat(4)",
                                 "(exponential(0.5) | repeat(2)) | poisson(rate=0.999999999) | repeat(2)",
                                 "mixture([(0.999999999, (exponential(0.5) | repeat(2))), (0.000000001, dp(0, 0))]) | repeat(2)"}) {
    const Interval found = curve_of(plan, Neighbours::add_remove).delta_at(0.6);
    EXPECT_LE(found.lo, truth * (1 + 1e-6)) << plan;
    EXPECT_GE(found.hi, truth * (1 - 1e-6)) << plan;
  }
}

TEST(Exponential, OperatorsUseItsPair) {
  const double epsilon = 0.2, rate = 0.1;
  const Curve sampled = curve_of("exponential(1) | poisson(rate=0.1)", Neighbours::add_remove);
  const double inner = std::log1p(std::expm1(epsilon) / rate);
  EXPECT_NEAR(sampled.delta_at(epsilon, Direction::remove).hi, rate * delta_of_plan("exponential(1)", inner).hi, 1e-12);
  EXPECT_LE(sampled.delta_at(epsilon, Direction::remove).lo, rate * delta_of_plan("exponential(1)", inner).hi);
  EXPECT_EQ(delta_of_plan("exponential(0.5) | group(3)", 0.3), delta_of_plan("exponential(1.5)", 0.3));
  EXPECT_EQ(delta_of_plan("exponential(0.5) | group(3) | repeat(2)", 0.3), delta_of_plan("exponential(1.5) | repeat(2)", 0.3));
  const Interval half = delta_of_plan("mixture([(0.5, exponential(1)), (0.5, dp(0, 0))])", 0.5);
  EXPECT_LE(half.lo, 0.5 * 0.07740468631569082);
  EXPECT_GE(half.hi, 0.5 * 0.07740468631569081);
}

TEST(Exponential, LongerPlansAreTheWholePlan) {
  const Curve first = curve_of("exponential(0.5) | repeat(2)");
  EXPECT_EQ(extend(first, parse("exponential(0.5) | repeat(2)")).delta_at(0.6), delta_of_plan("exponential(0.5) | repeat(4)", 0.6));
  EXPECT_TRUE(
      meet(extend(first, parse("exponential(0.7)")).delta_at(0.6), delta_of_plan("exponential(0.5) | repeat(2); exponential(0.7)", 0.6)));
}

TEST(Exponential, LargestLossIsExact) {
  EXPECT_EQ(curve_of("exponential(0.1) | repeat(7)").pure_epsilon()->text, "0.7");
  EXPECT_EQ(curve_of("exponential(weight=0.15, sensitivity=2)").pure_epsilon()->text, "0.6");
  EXPECT_EQ(curve_of("noisy_max(noise=gumbel, scale=4, top=3)").pure_epsilon()->text, "1.5");
  EXPECT_EQ(curve_of("noisy_max(noise=laplace, scale=4, monotone=true)").pure_epsilon()->text, "0.25");
}

TEST(Exponential, MonotoneIsRefusedWhereARecordMayBeReplaced) {
  for (const char* plan : {"exponential(weight=1, monotone=true)", "noisy_max(noise=gumbel, scale=1, monotone=true)"}) {
    EXPECT_THAT(refusal_of(plan, Neighbours::replace_one), HasSubstr("monotone = true is not allowed")) << plan;
    EXPECT_EQ(refusal_of(plan, Neighbours::add_remove), "") << plan;
  }
  EXPECT_EQ(refusal_of("exponential(weight=1)", Neighbours::replace_one), "");
}

TEST(NoisyMax, ExponentialNoiseHasTheLaplacePairNotThatOfBoundedRange) {
  for (const auto& entry : test::golden_group("selection.json", "noisy_max_exponential")) {
    const Interval delta = analyze(parse(entry["plan"].get<std::string>())).delta_at(read_number(entry["inputs"]["e"].get<std::string>()));
    EXPECT_THAT(delta, Encloses(entry["value"].get<std::string>())) << entry["id"];
    EXPECT_THAT(delta, IsTight(1e-12)) << entry["id"];
  }
  EXPECT_GT(delta_of_plan("noisy_max(noise=exponential, scale=2)", 0.5).lo, delta_of_plan("exponential(1)", 0.5).hi);
  // Two rounds: at most the product of the pairs, at least two rounds of randomised response, which two candidates reach.
  const Interval two = delta_of_plan("noisy_max(noise=exponential, scale=2) | repeat(2)", 0.5);
  EXPECT_NEAR(two.hi, delta_of_plan("laplace(1) | repeat(2)", 0.5).hi, 1e-6);
  const double odds = std::log(2 * std::exp(0.5) - 1);
  EXPECT_NEAR(two.lo, delta_of_plan("randomized_response(" + std::to_string(odds) + ") | repeat(2)", 0.5).lo, 1e-5);
}

TEST(NoisyMax, LaplaceNoiseLiesBetweenItsWitnessAndTheLaplacePair) {
  for (const auto& entry : test::golden_group("selection.json", "noisy_max_laplace_witness")) {
    const Interval delta = analyze(parse(entry["plan"].get<std::string>())).delta_at(read_number(entry["inputs"]["e"].get<std::string>()));
    EXPECT_GE(delta.hi, test::golden_double(entry["value"])) << entry["id"];
    EXPECT_LE(delta.lo, test::golden_double(entry["value"]) * (1 + 1e-12)) << entry["id"];
    EXPECT_GT(delta.lo, 0) << entry["id"];
  }
  EXPECT_NEAR(delta_of_plan("noisy_max(noise=laplace, scale=2)", 0.5).hi, delta_of_plan("laplace(1)", 0.5).hi, 1e-12);
}

TEST(NoisyMax, TwoCandidatesWithGaussianNoiseAreGaussian) {
  const Interval two = delta_of_plan("noisy_max(noise=gaussian, scale=2, candidates=2)", 0.5);
  EXPECT_TRUE(meet(two, delta_of_plan("gdp(" + std::to_string(std::sqrt(0.5)) + ")", 0.5)) ||
              std::abs(two.hi - delta_of_plan("gaussian(1.414213562373095)", 0.5).hi) < 1e-9);
  EXPECT_THAT(two, IsTight(1e-9));
}

TEST(NoisyMax, ManyCandidatesWithGaussianNoise) {
  for (const auto& entry : test::golden_group("selection.json", "noisy_max_gaussian_upper")) {
    const Interval delta = analyze(parse(entry["plan"].get<std::string>())).delta_at(read_number(entry["inputs"]["e"].get<std::string>()));
    EXPECT_LE(delta.hi, 1.001 * test::golden_double(entry["value"])) << entry["id"];
    EXPECT_GE(delta.hi, 0.999 * test::golden_double(entry["value"])) << entry["id"];
  }
  for (const auto& entry : test::golden_group("selection.json", "noisy_max_gaussian_witness")) {
    const Interval delta = analyze(parse(entry["plan"].get<std::string>())).delta_at(read_number(entry["inputs"]["e"].get<std::string>()));
    EXPECT_GE(delta.hi, test::golden_double(entry["value"])) << entry["id"];
    EXPECT_LE(delta.lo, test::golden_double(entry["value"])) << entry["id"];
  }
  // More candidates cost more, and a group of splits is no better than each of its splits.
  EXPECT_GE(delta_of_plan("noisy_max(noise=gaussian, scale=4, candidates=40)", 0.5).hi,
            delta_of_plan("noisy_max(noise=gaussian, scale=4, candidates=13)", 0.5).hi);
}

// [noisy-max-gaussian] The events of the golden table are found; the best one of two candidates alone is far smaller.
TEST(NoisyMax, LowerEndsOfGaussianNoiseAreNearTheGoldenEvents) {
  for (const auto& entry : test::golden_group("selection.json", "noisy_max_gaussian_witness")) {
    const Interval delta = analyze(parse(entry["plan"].get<std::string>())).delta_at(read_number(entry["inputs"]["e"].get<std::string>()));
    const double event = test::golden_double(entry["value"]);
    EXPECT_GT(delta.lo, 0.9995 * event) << entry["id"];
    EXPECT_LE(delta.lo, event * (1 + 1e-9)) << entry["id"];
  }
  for (const char* const plan :
       {"noisy_max(noise=gaussian, scale=0.1, candidates=3)", "noisy_max(noise=gaussian, scale=3, candidates=7) | repeat(3)"})
    for (const double epsilon : {-0.5, 0.0, 0.01, 1.0}) {
      const Interval delta = delta_of_plan(plan, epsilon);
      EXPECT_LE(delta.lo, delta.hi) << plan << " " << epsilon;
    }
}

TEST(NoisyMax, RefusalsSayWhatWouldBeNeeded) {
  EXPECT_THAT(refusal_of("noisy_max(noise=gaussian, scale=1)"), HasSubstr("Gaussian noise needs candidates"));
  for (const char* noise : {"laplace", "exponential"})
    EXPECT_THAT(refusal_of(std::string("noisy_max(noise=") + noise + ", scale=1, top=3)"), HasSubstr("repeat(3)")) << noise;
  EXPECT_THAT(refusal_of("noisy_max(noise=gaussian, scale=1, candidates=5, top=2)"), HasSubstr("only with Gumbel noise"));
  EXPECT_THAT(refusal_of("noisy_max(noise=gumbel, scale=1, candidates=3, top=4)"), HasSubstr("at most the number of candidates"));
  EXPECT_THAT(refusal_of("noisy_max(noise=gumbel, scale=0)"), HasSubstr("scale = 0 is not allowed"));
  EXPECT_THAT(refusal_of("exponential(epsilon=-1)"), HasSubstr("epsilon = -1 is not allowed"));
  EXPECT_NE(refusal_of("exponential(epsilon=1, weight=2)"), "");
  EXPECT_NE(refusal_of("exponential()"), "");
  EXPECT_THAT(refusal_of("permute_and_flip(epsilon=1)"), HasSubstr("noise=exponential"));
}

// [choices-gaussian]
TEST(Exponential, ManyStepsAreNearlyGaussian) {
  const Interval delta = delta_of_plan("exponential(0.001) | repeat(1000000)", 2.0);
  EXPECT_GE(delta.lo, 0.9999 * delta_of_plan("gdp(0.5)", 2.0).lo);
  EXPECT_LE(delta.hi, 1.0002 * delta_of_plan("gdp(0.5)", 2.0).hi);
  for (const std::string plan : {"exponential(0.1) | repeat(20000)", "exponential(0.01) | repeat(100000); gaussian(5)",
                                 "exponential(0.1) | repeat(9000); exponential(0.05) | repeat(9000)",
                                 "exponential(0.1) | repeat(1000000000)", "noisy_max(noise=gumbel, scale=20) | repeat(50000)"}) {
    const Curve curve = curve_of(plan);
    EXPECT_THAT(curve.epsilon_at(1e-5), IsTight(3e-3)) << plan;
    EXPECT_THAT(theorems_of(plan, curve.epsilon_at(1e-5).hi), HasSubstr("choices-gaussian")) << plan;
  }
}

// The table of a block is made once, and the other lines see its width only.
TEST(Exponential, ABlockBesideOtherLinesIsTight) {
  for (const std::string others : {"gaussian(5)", "laplace(scale=5)", "gaussian(1) | poisson(0.01) | repeat(100)"}) {
    const Curve curve = analyze(parse("exponential(0.2) | repeat(25); " + others), Neighbours::add_remove);
    EXPECT_THAT(curve.epsilon_at(1e-5), IsTight(2e-6)) << others;
    EXPECT_LE(curve.delta_at(3).lo, curve.delta_at(3).hi) << others;
  }
}

/// Two outcomes and one that only P can produce: the probabilities of the losses of a fixed pair.
struct FixedPair {
  std::vector<std::pair<double, double>> losses;  // e^-L and its probability under P; 0 for an infinite loss
};

/// The most that an analyst reaches at x who chooses every next step from a menu after all outcomes, and may stop.
double most_from_menu(const std::vector<FixedPair>& menu, std::vector<int> left, double x) {
  double best = std::max(0.0, 1 - x);
  for (std::size_t a = 0; a < menu.size(); ++a) {
    if (left[a] == 0) continue;
    --left[a];
    double sum = 0;
    for (const auto& [ratio, chance] : menu[a].losses) sum += chance * most_from_menu(menu, left, x * ratio);
    best = std::max(best, sum);
    ++left[a];
  }
  return best;
}

// [adaptive-block] The price of adaptivity is 0 for a menu of fixed pairs with limits on their numbers.
TEST(Menu, FixedPairsCostTheSameInEveryOrder) {
  std::mt19937 random(3);
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<FixedPair> menu;
    std::vector<int> counts;
    std::string plan;
    for (int a = 0; a < 2; ++a) {
      const int p = number(2, 6), only_p = number(0, 1), q = number(2, 7), only_q = number(0, 1), rest_p = 10 - p - only_p,
                rest_q = 10 - q - only_q;
      const auto text = [](int tenths) { return std::to_string(tenths) + "/10"; };
      const std::string listed = "pair(p=[" + text(p) + ", " + text(rest_p) + ", " + text(only_p) + ", 0], q=[" + text(q) + ", " +
                                 text(rest_q) + ", 0, " + text(only_q) + "])";
      menu.push_back(
          {{{static_cast<double>(q) / p, p / 10.0}, {static_cast<double>(rest_q) / rest_p, rest_p / 10.0}, {0.0, only_p / 10.0}}});
      counts.push_back(number(1, 3));
      plan += (plan.empty() ? "" : "; ") + listed + " | repeat(" + std::to_string(counts.back()) + ")";
    }
    const Curve curve = analyze(parse(plan), Neighbours::add_remove);
    for (const double epsilon : {-0.5, 0.0, 0.4, 1.0})
      EXPECT_NEAR(curve.delta_at(epsilon, Direction::remove).hi, most_from_menu(menu, counts, std::exp(epsilon)), 1e-9)
          << plan << " " << epsilon;
  }
}

}  // namespace
}  // namespace tradeoff::detail
