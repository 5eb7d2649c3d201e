// SPDX-License-Identifier: Apache-2.0
// A mechanism that is known only to lie between two pairs, in plans of every shape. The word is added from outside the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/with_vocabulary.h"
#include "loss/key.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/algebra.h"
#include "plan/arguments.h"
#include "plan/vocabulary.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"

// [bracketed-pair]
namespace tradeoff::detail {
namespace {

using ::testing::HasSubstr;

/// Gaussian DP with a mu between `low` and `high`. The second pair below is perfect privacy, so the first one decides.
LossPointer make_between(const Arguments& arguments, const WordContext& context) {
  const Interval low = arguments.number("low"), high = arguments.number("high");
  return context.bracket([&] { return gaussian_loss(high); },
                         {[&] { return gaussian_loss(low); }, [] { return gaussian_loss(Interval::exactly(0)); }});
}

/// A coin that shows heads with probability 1/2 for one data set and 1/10 for its neighbour: the symmetric pair is above, one order below.
constexpr std::array<double, 2> first_coin{0.5, 0.5}, second_coin{0.1, 0.9};

LossPointer make_coin(const Arguments&, const WordContext& context) {
  const Interval tenth = Interval::exactly(1) / 10.0, half = Interval::exactly(0.5);
  const auto one_order = [=] { return finite_loss(atoms_of_pair({half, half}, {tenth, 1.0 - tenth}), {}, {}); };
  return context.bracket([=] { return symmetric_loss(one_order()); }, {one_order});
}

/// At most (1, 0.5)-DP, at least a pair that differs in the two orders.
LossPointer make_directed(const Arguments& /*arguments*/, const WordContext& context) {
  return context.bracket([&] { return context.pair_of(parse("dp(epsilon=1, delta=0.5)")); }, {[] {
                           const std::vector<Interval> p{Interval::exactly(0.2), 1.0 - Interval::exactly(0.2)};
                           const std::vector<Interval> q{Interval::exactly(0.05), 1.0 - Interval::exactly(0.05)};
                           return finite_loss(atoms_of_pair(p, q), make_key("directed", {}), {});
                         }});
}

const Vocabulary& words() {
  static const Vocabulary all = vocabulary()
                                    .with({.role = Role::source,
                                           .name = "directed",
                                           .meaning = "a mechanism above a directed pair",
                                           .parameters = {},
                                           .make = make_directed})
                                    .with({.role = Role::source,
                                           .name = "between",
                                           .meaning = "Gaussian DP with a mu that is not known",
                                           .parameters = {{"low", Kind::number, "the least mu", range::non_negative},
                                                          {"high", Kind::number, "the largest mu", range::non_negative}},
                                           .make = make_between})
                                    .with({.role = Role::source, .name = "coin", .meaning = "a coin", .make = make_coin});
  return all;
}

Curve curve_of(const std::string& plan, Neighbours neighbours = Neighbours::add_remove) {
  return detail::analyze(detail::parse(plan, words()), words(), neighbours, {});
}

std::string with(std::string plan, const std::string& mu) {
  const std::string word = "between(0.5, 1)";
  for (std::size_t at = plan.find(word); at != std::string::npos; at = plan.find(word)) plan.replace(at, word.size(), "gdp(" + mu + ")");
  return plan;
}

const std::vector<std::string> plans = {"between(0.5, 1)",
                                        "between(0.5, 1) | repeat(5)",
                                        "between(0.5, 1) | poisson(0.1) | repeat(50)",
                                        "between(0.5, 1) | group(3)",
                                        "mixture([(0.25, between(0.5, 1)), (0.75, laplace(2))])",
                                        "between(0.5, 1); laplace(3)"};

TEST(Bracketed, UpperEndsComeFromAboveAndLowerEndsFromBelow) {
  for (const std::string& plan : plans) {
    const Curve asked = curve_of(plan), above = curve_of(with(plan, "1")), below = curve_of(with(plan, "0.5"));
    for (const Direction direction : {Direction::worst, Direction::add}) {
      for (const double epsilon : {0.0, 0.5}) {
        const Interval found = asked.delta_at(Interval::exactly(epsilon), direction);
        EXPECT_EQ(found.hi, above.delta_at(Interval::exactly(epsilon), direction).hi) << plan;
        EXPECT_EQ(found.lo, below.delta_at(Interval::exactly(epsilon), direction).lo) << plan;
        EXPECT_LE(found.lo, found.hi) << plan;
      }
      const Interval epsilon = asked.epsilon_at(Interval::exactly(1e-5), direction);
      const Interval most = above.epsilon_at(Interval::exactly(1e-5), direction),
                     least = below.epsilon_at(Interval::exactly(1e-5), direction);
      EXPECT_NEAR(epsilon.hi, most.hi, 1e-5 * most.hi) << plan;
      EXPECT_NEAR(epsilon.lo, least.lo, 1e-5 * least.hi) << plan;
      EXPECT_LE(most.lo, epsilon.hi);
      EXPECT_LE(epsilon.lo, least.hi);
      const Interval beta = asked.beta_at(Interval::exactly(0.05), direction);
      const Interval worst = above.beta_at(Interval::exactly(0.05), direction), best = below.beta_at(Interval::exactly(0.05), direction);
      EXPECT_NEAR(beta.lo, worst.lo, 1e-5) << plan;
      EXPECT_NEAR(beta.hi, best.hi, 1e-5) << plan;
      EXPECT_LE(beta.lo, worst.hi);
      EXPECT_LE(best.lo, beta.hi);
    }
  }
}

double coin_profile(double factor, bool swapped) {
  double delta = 0;
  for (std::size_t i = 0; i < 2; ++i)
    delta += std::max(0.0, swapped ? second_coin[i] - factor * first_coin[i] : first_coin[i] - factor * second_coin[i]);
  return delta;
}

/// The largest delta of two coins over every way to choose the orders, where that of the second may depend on what the first shows.
double worst_two_coins(double epsilon) {
  const double factor = std::exp(epsilon);
  double worst = 0;
  for (const bool swapped : {false, true}) {
    double delta = 0;
    for (std::size_t shown = 0; shown < 2; ++shown) {
      const double p = swapped ? second_coin[shown] : first_coin[shown], q = swapped ? first_coin[shown] : second_coin[shown];
      delta += p * std::max(coin_profile(factor * q / p, false), coin_profile(factor * q / p, true));
    }
    worst = std::max(worst, delta);
  }
  return worst;
}

// The composition of the symmetric pairs is above what any choice of orders shows: 0.405 against 0.319 at epsilon 1.
TEST(Bracketed, LowerEndsAreShownInSomeOrder) {
  for (const double epsilon : {0.0, 0.3, 1.0, 1.5, 2.0}) {
    const double truth = worst_two_coins(epsilon);
    double one_order = 0;  // what two coins in the same order show
    for (const bool swapped : {false, true}) {
      double delta = 0;
      for (std::size_t shown = 0; shown < 2; ++shown) {
        const double p = swapped ? second_coin[shown] : first_coin[shown], q = swapped ? first_coin[shown] : second_coin[shown];
        delta += p * coin_profile(std::exp(epsilon) * q / p, swapped);
      }
      one_order = std::max(one_order, delta);
    }
    const auto check = [&](const Curve& curve, const std::string& what) {
      const Interval found = curve.delta_at(epsilon);
      EXPECT_LE(found.lo, truth + 1e-12) << what << " at " << epsilon;
      EXPECT_GE(found.lo, one_order - 1e-9) << what << " at " << epsilon;
      EXPECT_GE(found.hi, truth - 1e-12) << what << " at " << epsilon;
    };
    for (const Neighbours neighbours : {Neighbours::replace_one, Neighbours::unstated}) {
      check(curve_of("coin() | repeat(2)", neighbours), "repeat");
      check(curve_of("coin(); coin()", neighbours), "lines");
      check(product({curve_of("coin()", neighbours), curve_of("coin()", neighbours)}), "product");
      check(curve_of("mixture([(1, (coin(); coin())), (0, coin())])", neighbours), "mixture");
    }
  }
}

TEST(Bracketed, ProductsStayBetween) {
  const Curve found = product({curve_of("between(0.5, 1) | repeat(2)"), curve_of("gaussian(2)")});
  const Interval delta = found.delta_at(0.5);
  EXPECT_EQ(delta.hi, curve_of("gdp(1) | repeat(2); gaussian(2)").delta_at(0.5).hi);
  EXPECT_EQ(delta.lo, curve_of("gdp(0.5) | repeat(2); gaussian(2)").delta_at(0.5).lo);
}

TEST(Bracketed, MuIsEnclosed) {
  const Interval mu = measure_mu(curve_of("between(0.5, 1) | repeat(4)")).mu;
  EXPECT_LE(mu.lo, 1.0 + 1e-9);
  EXPECT_GE(mu.hi, 2.0 - 1e-9);
  EXPECT_LE(mu.hi, 2.0 + 1e-6);
}

TEST(Bracketed, LongerPlansStayBetween) {
  const Curve longer = extend(curve_of("between(0.5, 1)", Neighbours::add_remove), parse("gaussian(2) | repeat(2)"));
  const Interval found = longer.epsilon_at(Interval::exactly(1e-5));
  const Interval above = curve_of("gdp(1); gaussian(2) | repeat(2)").epsilon_at(Interval::exactly(1e-5));
  const Interval below = curve_of("gdp(0.5); gaussian(2) | repeat(2)").epsilon_at(Interval::exactly(1e-5));
  EXPECT_GE(found.hi, above.lo);
  EXPECT_LE(found.lo, below.hi);
  EXPECT_LE(found.hi, above.hi * 1.001);
  EXPECT_GE(found.lo, below.lo * 0.999);
}

TEST(Bracketed, ProductsWithOtherLinesStayBetween) {
  const Curve both = product({curve_of("between(0.5, 1)"), curve_of("laplace(3)")});
  const Interval found = both.delta_at(Interval::exactly(0.5));
  const Interval below = curve_of("gdp(0.5); laplace(3)").delta_at(Interval::exactly(0.5));
  const Interval above = curve_of("gdp(1); laplace(3)").delta_at(Interval::exactly(0.5));
  EXPECT_LE(found.lo, below.hi);
  EXPECT_GE(found.lo, below.lo * 0.999);
  EXPECT_GE(found.hi, above.lo);
  EXPECT_LE(found.hi, above.hi * 1.001);
}

// A pair below a mechanism says nothing about the symmetric pair: the composed lower end is that of one order, also where a record may be
// replaced.
TEST(Bracketed, DirectedPairsBelowAreNotMadeSymmetric) {
  const std::string one = "pair(p=[0.2, 0.8], q=[0.05, 0.95])";
  for (const auto& [plan, stated] : {std::pair<std::string, std::string>{"directed() | repeat(3)", one + " | repeat(3)"},
                                     {"directed(); directed()", one + " | repeat(2)"},
                                     {"mixture([(0.5, (directed() | repeat(2))), (0.5, directed())])",
                                      "mixture([(0.5, (" + one + " | repeat(2))), (0.5, " + one + ")])"},
                                     {"strongest([directed()]) | repeat(2)", one + " | repeat(2)"},
                                     {"weakest([directed()]) | repeat(2)", one + " | repeat(2)"}}) {
    for (const double epsilon : {0.0, 0.2, 0.5, 1.0, 2.0}) {
      const Interval point = Interval::exactly(epsilon);
      const Interval found = curve_of(plan, Neighbours::replace_one).delta_at(point);
      const Interval truth = curve_of(stated, Neighbours::add_remove).delta_at(point);
      EXPECT_LE(found.lo, truth.hi) << plan << " at " << epsilon;
      if (plan.starts_with("directed")) {
        EXPECT_GE(found.lo, truth.lo * 0.999) << plan << " at " << epsilon;
      }
    }
    EXPECT_GT(curve_of(stated, Neighbours::replace_one).delta_at(0.5).lo,
              curve_of(stated, Neighbours::add_remove).delta_at(0.5).hi * 1.001);
  }
}

// The mu of the runs bounds the upper end only, below what the pair below has: the ends must not cross.
TEST(BracketedPair, EndsDoNotCrossBesideStatedDivergences) {
  const Curve curve =
      analyze(parse("rdp([(2, 0.01), (8, 0.05), (32, 0.25)]) | repeat(538); partition_selection(epsilon=0.471, delta=1e-7) | repeat(2)"));
  const auto ordered = [](Interval found) { return found.lo <= found.hi && found.hi < infinity; };
  for (const double epsilon : {0.0, 1.0}) EXPECT_TRUE(ordered(curve.delta_at(epsilon))) << epsilon;
  EXPECT_TRUE(ordered(curve.beta_at(0.05)));
  EXPECT_TRUE(ordered(curve.tpr_at(0.05)));
}

}  // namespace
}  // namespace tradeoff::detail
