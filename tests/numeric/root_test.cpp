// SPDX-License-Identifier: Apache-2.0
// [monotone-root] [compensated-sum]
#include "numeric/root.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numeric/sum.h"
#include "support/matchers.h"

namespace tradeoff::detail::test {
namespace {

using ::testing::AllOf;

Interval cube(double x) { return power(Interval::exactly(x), 3); }

TEST(Root, FindsARootWhateverTheGuess) {
  for (const double guess : {3.0, 0.0, -1e300, 1e300, 1e-300, std::nan(""), infinity, -infinity, 2.9999999999}) {
    EXPECT_THAT(numeric::increasing_root(cube, Interval::exactly(27), guess, Interval::whole()), AllOf(Encloses(3), IsTight(1e-14)))
        << guess;
  }
}

TEST(Root, SpansAllMagnitudes) {
  const auto root = [](Interval target, double guess) {
    return numeric::increasing_root([](double x) { return Interval::exactly(x); }, target, guess, Interval::whole());
  };
  for (const double truth : {1e-300, -1e-300, 1e300, -1e300, 0.0, 4.9e-324, 1.0}) {
    for (const double guess : {1.0, -1.0, 0.0, 1e-200})
      EXPECT_THAT(root(Interval::exactly(truth), guess), AllOf(Encloses(truth), IsTight(1e-14)));
  }
  EXPECT_EQ(root(Interval::exactly(infinity), 1).hi, infinity);
}

TEST(Root, IsClippedToItsDomain) {
  EXPECT_EQ(numeric::increasing_root(cube, Interval::exactly(-8), 1, {0, 10}), Interval::exactly(0));
  EXPECT_EQ(numeric::increasing_root(cube, Interval::exactly(8000), 1, {0, 10}), Interval::exactly(10));
  EXPECT_THAT(numeric::increasing_root(cube, Interval::exactly(8), 100, {0, 10}), Encloses(2));
}

TEST(Root, EnclosesAConstantPartCompletely) {
  const auto step = [](double x) { return Interval::exactly(x < 1 ? x : x < 5 ? 1 : x - 4); };
  for (const double guess : {0.5, 3.0, 9.0}) {
    const Interval flat = numeric::increasing_root(step, Interval::exactly(1), guess, {0, 10});
    EXPECT_TRUE(flat.lo <= 1 && flat.hi >= 5) << ::testing::PrintToString(flat);
  }
  const auto jump = [](double x) { return Interval::exactly(x < 2 ? 0 : 1); };
  EXPECT_THAT(numeric::increasing_root(jump, Interval::exactly(0.5), 7, {0, 10}), AllOf(Encloses(2), IsTight(1e-14)));
}

TEST(Root, TerminatesForWideEnclosures) {
  int evaluations = 0;
  const auto vague = [&](double x) {
    ++evaluations;
    return Interval{x - 0.5, x + 0.5};
  };
  const Interval answer = numeric::increasing_root(vague, Interval::exactly(3), 100, Interval::whole());
  EXPECT_TRUE(answer.lo <= 2.5 && answer.hi >= 3.5 && answer.lo > 0 && answer.hi < 8) << ::testing::PrintToString(answer);
  EXPECT_LT(evaluations, 300);
  evaluations = 0;
  const auto nothing = [&](double) {
    ++evaluations;
    return Interval::whole();
  };
  EXPECT_EQ(numeric::increasing_root(nothing, Interval::exactly(3), 1, Interval::whole()), Interval::whole());
  EXPECT_LT(evaluations, 5000);
}

TEST(Root, AGoodGuessIsCheap) {
  int evaluations = 0;
  const auto counted = [&](double x) {
    ++evaluations;
    return cube(x);
  };
  EXPECT_THAT(numeric::increasing_root(counted, Interval::exactly(27), 3 + 1e-15, Interval::whole()), Encloses(3));
  EXPECT_LE(evaluations, 8);
  evaluations = 0;
  EXPECT_THAT(numeric::increasing_root(counted, Interval::exactly(27), 1, Interval::whole()), Encloses(3));
  EXPECT_LE(evaluations, 60);
}

TEST(Sum, HoldsTheExactSumAfterCancellation) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    numeric::CompensatedSum sum;
    mpq_t exact, term;
    mpq_inits(exact, term, nullptr);
    for (int i = 0; i < 1000; ++i) {
      const double x = std::ldexp(std::uniform_real_distribution<>(-1, 1)(random), static_cast<int>(random() % 80));
      for (const double t : {x, -x * (i % 7 == 0 ? 0.5 : 1)}) {
        sum.add(t);
        mpq_set_d(term, t);
        mpq_add(exact, exact, term);
      }
    }
    const Interval found = sum.enclosure();
    mpq_set_d(term, found.lo);
    EXPECT_LE(mpq_cmp(term, exact), 0);
    mpq_set_d(term, found.hi);
    EXPECT_GE(mpq_cmp(term, exact), 0);
    EXPECT_THAT(found, IsTight(1e-15));
    mpq_clears(exact, term, nullptr);
  }
}

TEST(Sum, CountsTheErrorOfItsTerms) {
  numeric::CompensatedSum sum;
  for (int i = 0; i < 10; ++i) sum.add(i % 2 == 0 ? 1 : -1);
  EXPECT_EQ(sum.enclosure(), Interval::exactly(0) + (Interval{-1, 1} * sum.enclosure().hi));
  const Interval wide = sum.enclosure(0.01);
  EXPECT_TRUE(wide.contains(0.1) && wide.contains(-0.1));
  numeric::CompensatedSum over;
  over.add(1e308);
  over.add(1e308);
  EXPECT_EQ(over.enclosure().hi, infinity);
}

TEST(Bisect, KeepsTheChangeBetweenItsSides) {
  const auto condition = [](double x) { return x * x >= 2; };
  const numeric::Sides sides = numeric::bisect(condition, {0, 2}, 40);
  EXPECT_LT(sides.before, std::sqrt(2.0));
  EXPECT_GT(sides.beyond, std::sqrt(2.0));
  EXPECT_EQ(sides.beyond - sides.before, 0x1p-39);
  const numeric::Sides ratio = numeric::bisect_ratio(condition, {0, 0x1p80}, 200, 1 + 1e-12);
  EXPECT_FALSE(condition(ratio.before));
  EXPECT_TRUE(condition(ratio.beyond));
  EXPECT_NEAR(ratio.before, std::sqrt(2.0), 2e-12);
}

TEST(Bisect, TakesTheSidesInEitherOrderAndStopsAtTheWidth) {
  int calls = 0;
  const numeric::Sides sides = numeric::bisect(
      [&](double x) {
        ++calls;
        return x < 0.3;
      },
      {1, 0}, 100, 0x1p-10);
  EXPECT_GE(sides.before, 0.3);
  EXPECT_LT(sides.beyond, 0.3);
  EXPECT_EQ(sides.before - sides.beyond, 0x1p-10);
  EXPECT_EQ(calls, 10);
}

TEST(NarrowBracket, ABlindEndIsHalvedAndADoubtfulMiddleIsEnclosed) {
  // From 0.35 on only the side is known; near the change 0.3 nothing is.
  for (const double doubt : {1e-13, 1e-9, 1e-3})
    for (const double enough : {0.0, 1e-12, 1e-6}) {
      int calls = 0;
      const auto judge = [&](double x) {
        ++calls;
        const double excess = 0.3 - x;
        if (x > 0.35) return numeric::Verdict{false, true, -22, infinity};
        return numeric::Verdict{excess > doubt, excess < -doubt, excess, doubt};
      };
      const Interval found = numeric::narrow_bracket(judge, 0.2, judge(0.2), 1.5, judge(1.5), enough);
      EXPECT_THAT(found, Encloses(0.3)) << doubt << " " << enough;
      EXPECT_LE(found.width(), std::max(6 * doubt, 8 * enough) + 1e-14) << doubt << " " << enough;
      EXPECT_LE(calls, 45) << doubt << " " << enough;
    }
}

}  // namespace
}  // namespace tradeoff::detail::test
