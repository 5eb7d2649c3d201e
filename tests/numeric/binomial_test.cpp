// SPDX-License-Identifier: Apache-2.0
// [binomial-tail] [binomial-tail-ratio] [binomial-cells]
#include "numeric/binomial.h"

#include <arb.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/matchers.h"

namespace tradeoff::detail::numeric {
namespace {

using test::Encloses;
using test::IsTight;

/// Checks one tail against a sum of balls: all masses, for an exact rate.
void expect_tail(std::uint64_t trials, double rate, std::uint64_t least, double width) {
  constexpr slong bits = 300;
  arb_t sum, term, q, p, factor;
  arb_init(sum), arb_init(term), arb_init(q), arb_init(p), arb_init(factor);
  arb_set_d(q, rate);
  arb_one(p);
  arb_sub(p, p, q, bits);
  arb_bin_uiui(term, trials, least, bits);
  arb_pow_ui(factor, q, least, bits);
  arb_mul(term, term, factor, bits);
  arb_pow_ui(factor, p, trials - least, bits);
  arb_mul(term, term, factor, bits);
  for (std::uint64_t k = least; k <= trials; ++k) {
    arb_add(sum, sum, term, bits);
    arb_mul_ui(term, term, trials - k, bits);
    arb_div_ui(term, term, k + 1, bits);
    arb_mul(term, term, q, bits);
    arb_div(term, term, p, bits);
  }
  const Interval found = binomial_tail(trials, Interval::exactly(rate), least);
  EXPECT_THAT(found, Encloses(sum)) << trials << " " << rate << " " << least;
  EXPECT_LE(found.width(), width * found.hi + 1e-280) << trials << " " << rate << " " << least;
  arb_clear(sum), arb_clear(term), arb_clear(q), arb_clear(p), arb_clear(factor);
}

TEST(BinomialTail, AgreesWithTheSumOfAllMasses) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint64_t trials = std::uniform_int_distribution<std::uint64_t>(1, trial < 200 ? 12 : 900)(random);
    const double rate = std::exp(std::uniform_real_distribution<double>(-6, 0)(random));
    const std::uint64_t least = std::uniform_int_distribution<std::uint64_t>(1, trials)(random);
    expect_tail(trials, trial % 2 == 0 ? rate : 1 - rate, least, 1e-11);
  }
}

TEST(BinomialTail, AgreesAtTheSizesOfTraining) {
  expect_tail(9999, 0.01, 128, 1e-11);
  expect_tail(9999, 0.01, 90, 1e-11);
  expect_tail(59999, 0.004, 280, 1e-11);
}

TEST(BinomialTail, HasExactEnds) {
  EXPECT_EQ(binomial_tail(10, Interval::exactly(0.3), 0), Interval::exactly(1));
  EXPECT_EQ(binomial_tail(10, Interval::exactly(0.3), 11), Interval::exactly(0));
  EXPECT_EQ(binomial_tail(10, Interval::exactly(0), 1), Interval::exactly(0));
  EXPECT_EQ(binomial_tail(10, Interval::exactly(1), 10), Interval::exactly(1));
  EXPECT_THAT(binomial_tail(0, Interval::exactly(0.3), 0), Encloses(1));
  EXPECT_EQ(binomial_tail(0, Interval::exactly(0.3), 1), Interval::exactly(0));
}

TEST(BinomialTail, EnclosesEveryRateOfAnInterval) {
  const Interval wide = binomial_tail(50, {0.1, 0.2}, 8);
  EXPECT_THAT(wide, Encloses(binomial_tail(50, Interval::exactly(0.1), 8)));
  EXPECT_THAT(wide, Encloses(binomial_tail(50, Interval::exactly(0.2), 8)));
}

TEST(BinomialTail, StaysTightForLongLaws) {
  const Interval tail = binomial_tail(1'000'000'000, Interval::exactly(0.5), 500'050'000);  // 3.16 standard deviations above the mean
  EXPECT_THAT(tail, IsTight(1e-6));
  EXPECT_NEAR(tail.hi, 0.000783, 2e-5);  // of the normal law
  EXPECT_THAT(binomial_tail(1'000'000'000'000, Interval::exactly(1e-9), 2'000), IsTight(1e-6));
}

constexpr slong ball_bits = 300;

/// P[K = k] as a ball.
class MassBall {
 public:
  MassBall(std::uint64_t trials, double rate, std::uint64_t k) {
    arb_t q, factor;
    arb_init(value_), arb_init(q), arb_init(factor);
    arb_set_d(q, rate);
    arb_bin_uiui(value_, trials, k, ball_bits);
    arb_pow_ui(factor, q, k, ball_bits);
    arb_mul(value_, value_, factor, ball_bits);
    arb_sub_ui(q, q, 1, ball_bits);
    arb_neg(q, q);
    arb_pow_ui(factor, q, trials - k, ball_bits);
    arb_mul(value_, value_, factor, ball_bits);
    arb_clear(q), arb_clear(factor);
  }
  MassBall(const MassBall&) = delete;
  MassBall& operator=(const MassBall&) = delete;
  ~MassBall() { arb_clear(value_); }
  arb_struct* get() { return value_; }

 private:
  arb_t value_;
};

TEST(BinomialMass, AgreesWithBalls) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint64_t trials = std::uniform_int_distribution<std::uint64_t>(1, trial < 100 ? 40 : 50000)(random);
    const double rate = std::uniform_real_distribution<double>(0.001, 0.999)(random);
    const double near =
        static_cast<double>(trials) * rate + std::uniform_real_distribution<double>(-8, 8)(random) * std::sqrt(static_cast<double>(trials));
    const auto k = static_cast<std::uint64_t>(std::clamp(near, 0.0, static_cast<double>(trials)));
    MassBall ball(trials, rate, k);
    const Interval found = binomial_mass(trials, Interval::exactly(rate), k);
    EXPECT_THAT(found, Encloses(ball.get())) << trials << " " << rate << " " << k;
    EXPECT_LE(found.width(), 1e-11 * found.hi + 1e-290) << trials << " " << rate << " " << k;
  }
  EXPECT_EQ(binomial_mass(5, Interval::exactly(0.5), 6).hi, 0);
  EXPECT_THAT(binomial_mass(0, Interval::exactly(0.5), 0), Encloses(1));
}

/// P[K > k] / P[K = k], term by term.
void expect_ratio(std::uint64_t trials, double odds, std::uint64_t k, double width) {
  arb_t sum, term, o;
  arb_init(sum), arb_init(term), arb_init(o);
  arb_set_d(o, odds);
  arb_one(term);
  for (std::uint64_t j = k; j < trials; ++j) {
    arb_mul_ui(term, term, trials - j, ball_bits);
    arb_div_ui(term, term, j + 1, ball_bits);
    arb_mul(term, term, o, ball_bits);
    arb_add(sum, sum, term, ball_bits);
  }
  const Interval found = binomial_tail_ratio(trials, Interval::exactly(odds), k);
  EXPECT_THAT(found, Encloses(sum)) << trials << " " << odds << " " << k;
  EXPECT_LE(found.width(), width * found.hi) << trials << " " << odds << " " << k;
  arb_clear(sum), arb_clear(term), arb_clear(o);
}

TEST(BinomialTailRatio, AgreesWithTheSum) {
  std::mt19937 random(9);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t trials = std::uniform_int_distribution<std::uint64_t>(2, trial < 100 ? 300 : 20000)(random);
    const double odds = trial % 3 == 0 ? 1 : std::uniform_real_distribution<double>(0.01, 1)(random);
    const double n = static_cast<double>(trials), least = std::ceil((n - 1) * odds / (1 + odds));
    const double far = least + std::abs(std::normal_distribution<double>(0, 4)(random)) * std::sqrt(n) / 2;
    expect_ratio(trials, odds, static_cast<std::uint64_t>(std::min(far, n)), odds == 1 ? 3e-4 : 0.05);
  }
  expect_ratio(20000, 1, 10000, 1e-6);
  expect_ratio(20000, 1, 10300, 1e-7);
  expect_ratio(7, 1, 7, 0);
  // near x = 2, where the recursion of the moments gives way to the continued fraction, and far out
  for (const double x : {0.0, 0.5, 1.9, 2.1, 5.0, 12.0, 40.0})
    for (const std::uint64_t trials : {2001, 30000, 400000}) {
      const double k = std::ceil((static_cast<double>(trials) + x * std::sqrt(static_cast<double>(trials))) / 2);
      expect_ratio(trials, 1, static_cast<std::uint64_t>(k), trials == 2001 ? 3e-5 : 1e-6);
    }
}

TEST(BinomialCells, EncloseTheProbabilitiesOfRanges) {
  for (const auto& [trials, rate] : {std::pair<std::uint64_t, double>{30, 0.3}, {3000, 0.5}, {20000, 0.02}, {20000, 0.999}, {50, 1e-9}}) {
    for (const std::size_t most : {40U, 500U}) {
      const BinomialCells found = binomial_cells(trials, Interval::exactly(rate), most);
      double below = 0, above = found.outside;
      std::uint64_t next = found.cells.front().first;
      for (const BinomialCell& cell : found.cells) {
        ASSERT_EQ(cell.first, next);
        next = cell.last + 1;
        below += cell.mass.lo, above += cell.mass.hi;
        arb_t sum;
        arb_init(sum);
        for (std::uint64_t k = cell.first; k <= cell.last; ++k) arb_add(sum, sum, MassBall(trials, rate, k).get(), ball_bits);
        EXPECT_THAT(cell.mass, Encloses(sum)) << trials << " " << cell.first << " " << cell.last;
        arb_clear(sum);
      }
      EXPECT_LE(below, 1 + 1e-12);
      EXPECT_GE(above, 1 - 1e-12);
      EXPECT_LE(above - below, most == 500 ? 1e-3 : 0.3) << trials << " " << rate;
      EXPECT_LT(found.outside, 1e-30);
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail::numeric
