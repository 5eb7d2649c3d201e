// SPDX-License-Identifier: Apache-2.0
// [finite-pair] Exact numbers of listed probabilities lie in the proved intervals, which other code computes.
#include "plan/exact_pair.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "numeric/arithmetic.h"
#include "plan/vocabulary.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/limit.h"
#include "tradeoff/targets.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

std::string any_pair(std::mt19937_64& random) {
  const auto row = [&](std::size_t count) {
    int left = 20;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const int mass = i + 1 == count ? left : static_cast<int>(random() % static_cast<unsigned>(left + 1));
      left -= mass;
      text += (i == 0 ? "" : ", ") + std::to_string(mass) + "/20";
    }
    return text;
  };
  const std::size_t count = 2 + random() % 3;
  return "pair(p=[" + row(count) + "], q=[" + row(count) + "])";
}

std::string any_plan(std::mt19937_64& random) {
  const std::string one = any_pair(random), other = any_pair(random);
  switch (random() % 7) {
    case 0:
      return one + " | invert()";
    case 1:
      return one + " | repeat(2)";
    case 2:
      return "strongest([" + one + ", " + other + "])";
    case 3:
      return "weakest([" + one + ", " + other + "])";
    case 4:
      return "mixture([(0.25, " + one + "), (0.75, " + other + ")])";
    case 5:
      return "weakest([curve(points=[(0, 0.9), (0.1, 0.6), (0.5, 0.1), (1, 0)]), " + one + "])";
    default:
      return "strongest([dp(epsilon=0, delta=0.2), " + one + "]) | invert()";
  }
}

Interval enclosed(const std::optional<numeric::Rational>& exact) {
  EXPECT_TRUE(exact);
  return exact ? numeric::enclose(to_quotient(*exact)) : Interval{0, -1};
}

/// Whether the enclosure may hold the exact number: they meet up to the rounding of a few units.
void expect_meet(Interval found, const std::optional<numeric::Rational>& exact, const std::string& what) {
  const Interval value = enclosed(exact);
  EXPECT_LE(found.lo, value.hi * (1 + 1e-15)) << what;
  EXPECT_LE(value.lo * (1 - 1e-15), found.hi) << what;
}

TEST(ExactPair, LiesInTheProvedIntervals) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 150; ++i) {
    const std::string text = any_plan(random);
    const Plan plan = parse(text);
    const auto pair = exact_pair(plan, vocabulary());
    ASSERT_TRUE(pair) << text;
    const Curve curve = analyze(plan, Neighbours::add_remove);
    for (const Direction direction : {Direction::remove, Direction::add, Direction::worst}) {
      if (direction == Direction::worst && text.find("repeat") != std::string::npos) continue;
      const auto corners = exact_corners(*pair, direction);
      ASSERT_TRUE(corners) << text;
      for (const unsigned alpha : {0, 1, 3, 10, 19, 20}) {
        const numeric::Rational place = *numeric::product(numeric::Rational{1, 20}, alpha);
        expect_meet(curve.beta_at(enclosed(place), direction), exact_beta(*corners, place), text + " beta " + std::to_string(alpha));
      }
      expect_meet(curve.delta_at(0.0, direction), exact_delta(*corners, {1, 1}), text + " advantage");
      expect_meet(curve.delta_at(std::log(3), direction), exact_delta(*corners, {3, 1}), text + " delta at log 3");
      const double revealed = curve.delta_at(std::numeric_limits<double>::infinity(), direction).hi;
      const auto largest = largest_ratio(*corners);
      EXPECT_EQ(largest.has_value() || corners->size() < 2, corners->front().second == (numeric::Rational{1, 1})) << text;
      if (largest) {
        EXPECT_LE(revealed, 1e-15) << text;
        expect_meet(exp(curve.epsilon_at(0.0, direction)), largest, text + " largest loss");
      }
    }
  }
}

TEST(ExactPair, KnowsTheChiSquareDivergence) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 40; ++i) {
    const Plan plan = parse(any_pair(random));
    const Curve curve = analyze(plan, Neighbours::add_remove);
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const auto square = exact_chi_square(*exact_corners(*exact_pair(plan, vocabulary()), direction));
      if (square) expect_meet(divergences_of(curve, direction).chi_square, square, to_string(plan));
    }
  }
}

// Both sides of a verdict that intervals leave open.
TEST(ExactPair, DecidesBudgets) {
  const Curve curve = analyze(parse("pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"));
  const auto number = [](const char* text) { return Number{text, *numeric::enclose_decimal(text)}; };
  const Number zero = number("0"), exact = number("0.3"), less = number("0.2999999999999");
  EXPECT_EQ(check(curve, zero, exact).within, Met::yes);
  EXPECT_EQ(check(curve, zero, less).within, Met::no);
  EXPECT_EQ(curve.epsilon_at(exact).hi, 0);
  const Curve revealing = analyze(parse("curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)])"));
  EXPECT_THAT(revealing.epsilon_at(number("0.1")), Encloses(std::log(2.0)));
  EXPECT_LE(revealing.epsilon_at(number("0.1")).hi, std::log(2.0) + 1e-12);
  EXPECT_EQ(revealing.epsilon_at(number("0.0999999999999")).hi, std::numeric_limits<double>::infinity());
}

// Several runs of a pair that is not symmetric may be seen in either order each: its own advantage is no guarantee for them.
TEST(ExactPair, DecidesNothingForSeveralOrders) {
  const std::string pair = "pair(p=[0.1, 0.9], q=[0.3, 0.7])";
  const auto number = [](const char* text) { return Number{text, *numeric::enclose_decimal(text)}; };
  for (const std::string& text : {pair + " | repeat(3)", pair + "; " + pair + "; " + pair, "(" + pair + "; " + pair + ") | invert()",
                                  "mixture([(0.5, " + pair + "), (0.5, (" + pair + " | invert()))])"}) {
    EXPECT_TRUE(computed_guarantees(parse(text), vocabulary()).empty()) << text;
    for (const Neighbours neighbours : {Neighbours::unstated, Neighbours::replace_one}) {
      const Curve curve = analyze(parse(text), neighbours);
      EXPECT_NE(check(curve, number("0"), number("0.19")).within, Met::yes) << text;
    }
  }
  const Curve three = analyze(parse(pair + " | repeat(3)"));
  EXPECT_GT(three.delta_at(0.0).lo, 0.4);  // 0.386 for three runs in one order
  EXPECT_EQ(check(three, number("0"), number("0.386")).within, Met::no);
  EXPECT_EQ(computed_guarantees(parse("strongest([(" + pair + " | invert()), dp(epsilon=0, delta=0.3)])"), vocabulary()).size(), 1U);
}

TEST(ExactPair, IsEmptyWhereThePlanDoesNotListProbabilities) {
  for (const char* text : {"gaussian(sigma=1)", "dp(epsilon=1, delta=0.1)", "pair(p=[0.1, 0.9], q=[0.2, 0.8]) | poisson(rate=0.5)",
                           "pair(p=[0.1, 0.9], q=[0.2, 0.8]) | repeat(1000)", "pair(p=[0.1, 0.9], q=[0.2, 0.8]); laplace(scale=1)"})
    EXPECT_FALSE(exact_pair(parse(text), vocabulary())) << text;
}

}  // namespace
}  // namespace tradeoff::detail
