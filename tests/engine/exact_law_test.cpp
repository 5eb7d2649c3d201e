// SPDX-License-Identifier: Apache-2.0
// [atom-kernel] [exact-composition] The parts of the exact engine: rows, powers, products, lattices, and the assumed libm accuracy.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

#include "engine/exact/axes.h"
#include "engine/exact/power.h"
#include "numeric/arithmetic.h"
#include "support/ball.h"

namespace tradeoff::detail::exact {
namespace {

using test::Ball;

Ball to_ball(Wide value) {
  mpfr_t number;
  mpfr_init2(number, 128);
  mpfr_set_ld(number, value, MPFR_RNDN);
  Ball ball;
  arf_set_mpfr(arb_midref(ball.get()), number);
  mpfr_clear(number);
  return ball;
}

/// |log(value / truth)| <= bound.
bool within(Wide value, const Ball& truth, double bound) {
  const Ball error = log(to_ball(value) / truth);
  return test::certainly_less(error, Ball(bound)) && test::certainly_less(-error, Ball(bound));
}

TEST(ExactLaw, TrustsLibmToEightUnits) {
  Ball::precision = 256;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-40, 9);
  for (int i = 0; i < 20000; ++i) {
    const Wide x = std::exp2(static_cast<Wide>(exponent(random))) * (1 + static_cast<Wide>(random()) * 0x1p-65L);
    const double bound = 16 * wide_unit;
    EXPECT_TRUE(within(std::exp(-x), exp(-to_ball(x)), bound)) << static_cast<double>(x);
    EXPECT_TRUE(within(std::exp(x), exp(to_ball(x)), bound)) << static_cast<double>(x);
    Ball minus = -to_ball(x);
    arb_expm1(minus.get(), minus.get(), Ball::precision);
    EXPECT_TRUE(within(-std::expm1(-x), -minus, bound)) << static_cast<double>(x);
    const Ball logarithm = log(to_ball(x));
    const Ball error = to_ball(std::log(x)) - logarithm;
    EXPECT_TRUE(test::certainly_less(error * error, Ball(bound) * Ball(bound) * (logarithm * logarithm + Ball(1e-9))))
        << static_cast<double>(x);
  }
}

TEST(ExactLaw, BinomialRowsKeepTheirBound) {
  Ball::precision = 256;
  for (const auto& [count, odds] :
       {std::pair<std::uint64_t, Wide>{0, 2.0L}, {1, 0.3L}, {7, 1.0L}, {60, 3.25L}, {1000, 1.001L}, {400, 1e-6L}, {300, 5e7L}}) {
    const BinomialRow row = binomial_row(count, odds);
    ASSERT_EQ(row.first, 0U);
    ASSERT_EQ(row.mass.size(), count + 1);
    Ball term(1);
    Ball total(0);
    std::vector<Ball> terms;
    for (std::uint64_t a = 0; a <= count; ++a) {
      terms.push_back(term);
      total = total + term;
      term = term * Ball(static_cast<double>(count - a)) / Ball(static_cast<double>(a + 1)) * to_ball(odds);
    }
    const double bound = static_cast<double>(count) * 8 * wide_unit + 4 * wide_unit;
    for (std::uint64_t a = 0; a <= count; ++a) EXPECT_TRUE(within(row.mass[a], terms[a] / total, bound)) << count << " " << a;
  }
}

TEST(ExactLaw, BinomialRowsEndWhereMassesDo) {
  const BinomialRow row = binomial_row(1'000'000, 1);
  EXPECT_GT(row.first, 0U);
  EXPECT_LT(row.mass.size(), 400'000U);
  for (const Wide mass : row.mass) EXPECT_GT(mass, 0);
}

Atoms symmetric(std::vector<std::pair<double, double>> weights) {
  std::vector<Atom> finite;
  for (const auto& [loss, weight] : weights) {
    const Interval odds = exp(Interval::exactly(-loss));
    if (loss == 0) {
      finite.push_back({Interval::exactly(0), Interval::exactly(weight)});
      continue;
    }
    finite.push_back({Interval::exactly(loss), weight / (1 + odds)});
    finite.push_back({Interval::exactly(-loss), weight * odds / (1 + odds)});
  }
  return make_atoms(std::move(finite), Interval::exactly(0), Interval::exactly(0), true);
}

/// One draw at a time, by products of lists.
Law power_step_by_step(const Atoms& atoms, int times) {
  Law law = power(atoms, 1);
  for (int i = 1; i < times; ++i) law = product(law, power(atoms, 1));
  return law;
}

void expect_same(const Law& a, const Law& b) {
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_NEAR(a.points[i].loss, b.points[i].loss, a.shift + b.shift);
    EXPECT_LE(std::abs(std::log(a.points[i].mass / b.points[i].mass)), a.spread + b.spread);
  }
  EXPECT_LT(a.spread, 1e-11);
  EXPECT_LT(a.shift, 1e-11);
}

TEST(ExactLaw, PowersEqualRepeatedProducts) {
  expect_same(power(symmetric({{0.7, 1}}), 9), power_step_by_step(symmetric({{0.7, 1}}), 9));
  expect_same(power(symmetric({{0.7, 0.5}, {0.29301, 0.5}}), 8), power_step_by_step(symmetric({{0.7, 0.5}, {0.29301, 0.5}}), 8));
  expect_same(power(symmetric({{0.7, 0.5}, {0.29301, 0.25}, {0, 0.25}}), 7),
              power_step_by_step(symmetric({{0.7, 0.5}, {0.29301, 0.25}, {0, 0.25}}), 7));
  expect_same(power(symmetric({{0.7, 0.5}, {0, 0.5}}), 30), power_step_by_step(symmetric({{0.7, 0.5}, {0, 0.5}}), 30));
  expect_same(power(symmetric({{1.5, 0.25}, {0.9001, 0.5}, {0.35, 0.25}}), 6),
              power_step_by_step(symmetric({{1.5, 0.25}, {0.9001, 0.5}, {0.35, 0.25}}), 6));
  expect_same(power(symmetric({{1.2, 0.25}, {0.6, 0.75}}), 20), power_step_by_step(symmetric({{1.2, 0.25}, {0.6, 0.75}}), 20));
}

// [averaged-counts] What is cut off at each end is counted.
TEST(ExactLaw, LatticePowersCountWhatTheyLeaveOut) {
  for (const Atoms& atoms : {symmetric({{0.7, 0.25}, {0, 0.75}}), symmetric({{1.2, 0.25}, {0.6, 0.5}, {0, 0.25}})})
    for (const std::uint64_t times : {1, 37, 200}) {
      const Law all = power(atoms, times);
      const std::optional<Law> cut = lattice_power(atoms, times, 1e-9L);
      ASSERT_TRUE(cut.has_value());
      std::size_t next = 0;
      Wide missing = 0;
      for (const Point& point : all.points) {
        if (next == cut->points.size() || point.loss < cut->points[next].loss - 0.1 || point.loss > cut->points[next].loss + 0.1) {
          missing += point.mass;
          continue;
        }
        EXPECT_NEAR(point.loss, cut->points[next].loss, all.shift + cut->shift);
        // what is lost before the end is missing in every cell
        EXPECT_GE(point.mass * (1 + 1e-12L), cut->points[next].mass);
        EXPECT_LE(point.mass * (1 - 1e-12L), cut->points[next].mass + cut->lost);
        missing += std::max<Wide>(0, point.mass - cut->points[next++].mass);
      }
      EXPECT_EQ(next, cut->points.size());
      EXPECT_GE(cut->lost * (1 + 1e-9L) + 1e-18L, missing);
      EXPECT_LE(cut->lost, 1e-6L);
      if (times == 200) {
        EXPECT_GT(missing, 1e-10L) << "nothing was left out";
      }
      EXPECT_LE(static_cast<double>(cut->points.size()), lattice_cells(atoms, times));
    }
  EXPECT_EQ(lattice_power(symmetric({{0.7, 0.5}, {0.29301234567, 0.5}}), 5, 1e-9L), std::nullopt);
}

TEST(ExactLaw, PowersOfLopsidedLawsEqualRepeatedProducts) {
  const auto masses = [](std::vector<double> values) {
    std::vector<Interval> result;
    for (const double value : values) result.push_back(Interval::exactly(value));
    return result;
  };
  const Atoms three = atoms_of_pair(masses({0.5, 0.25, 0.25}), masses({0.125, 0.5, 0.375}));
  expect_same(power(three, 9), power_step_by_step(three, 9));
  // Losses +-log 3 and 0, with more mass on the negative side than a symmetric distribution has.
  const Atoms flipped = atoms_of_pair(masses({0.125, 0.25, 0.625}), masses({0.375, 0.0833333333333333, 0.5416666666666667}));
  expect_same(power(flipped, 5), power_step_by_step(flipped, 5));
  std::vector<double> many(10, 0.0625);
  many.push_back(0.375);
  std::vector<double> other{0.03125,    0.09375,    0.046875,      0.078125,      0.0546875, 0.0703125,
                            0.05859375, 0.06640625, 0.06005859375, 0.06494140625, 0.375};
  const Atoms eleven = atoms_of_pair(masses(many), masses(other));
  expect_same(power(eleven, 4), power_step_by_step(eleven, 4));
}

TEST(ExactLaw, LongPowersLoseOnlyTheirFarEnds) {
  // Half of the draws have loss 0: 20000 draws have 40001 possible losses, of which only those above 2^-1200 are computed.
  const std::uint64_t times = 20000;
  const Law law = power(symmetric({{0.01, 0.5}, {0, 0.5}}), times);
  EXPECT_LT(law.points.size(), 15000U);
  EXPECT_GT(law.lost, 0);
  EXPECT_LT(law.lost, 1e-340L);
  Wide total = 0;
  Wide other = 0;
  Wide mean = 0;
  for (const Point& point : law.points) {
    total += point.mass;
    other += point.mass * std::exp(-static_cast<Wide>(point.loss));
    mean += point.mass * static_cast<Wide>(point.loss);
  }
  EXPECT_NEAR(static_cast<double>(total - 1), 0, law.spread);
  EXPECT_NEAR(static_cast<double>(other - 1), 0, law.spread + law.shift);
  EXPECT_NEAR(static_cast<double>(mean), static_cast<double>(times) * 0.5 * 0.01 * std::tanh(0.005), 1e-9);
  EXPECT_LT(law.spread, 1e-10);
}

TEST(ExactLaw, MassesSumToOne) {
  for (const std::uint64_t times : {1U, 2U, 17U, 60U}) {
    const Law law = power(symmetric({{1.1, 0.25}, {0.313, 0.5}, {0, 0.25}}), times);
    Wide total = 0;
    Wide other = 0;
    for (const Point& point : law.points) {
      total += point.mass;
      other += point.mass * std::exp(-static_cast<Wide>(point.loss));
    }
    EXPECT_NEAR(static_cast<double>(total - 1), 0, law.spread + 1e-16) << times;
    EXPECT_NEAR(static_cast<double>(other - 1), 0, law.spread + law.shift + 1e-15) << times;
  }
}

TEST(ExactLaw, LatticeProductEqualsProduct) {
  const Law a = power(symmetric({{0.5, 1}}), 12);
  const Law b = power(symmetric({{0.75, 1}}), 7);
  expect_same(lattice_product(a, b, 0.25L), product(a, b));
}

// More pairs of points than are stored at once, on a lattice that merges them to few.
TEST(ExactLaw, ALargeProductIsMadeInHalves) {
  const Law a = power(symmetric({{0.0078125, 1}}), 2110), b = power(symmetric({{0.0078125, 1}}), 2000);
  ASSERT_GT(static_cast<double>(a.points.size()) * static_cast<double>(b.points.size()), most_points);
  expect_same(product(a, b), power(symmetric({{0.0078125, 1}}), 4110));
}

Interval decimal(double nearest) { return {numeric::next_down(nearest), numeric::next_up(nearest)}; }

TEST(ExactLaw, SeesCommonStepsOfDecimals) {
  const auto lattice = common_lattice({decimal(0.6), decimal(0.2), decimal(-1.4)});
  ASSERT_TRUE(lattice);
  EXPECT_NEAR(static_cast<double>(lattice->step), 0.2, 1e-15);
  EXPECT_EQ(lattice->multiples, (std::vector<std::int64_t>{3, 1, -7}));
  EXPECT_TRUE(common_lattice({decimal(0.37), decimal(0.6)}));
  EXPECT_TRUE(common_lattice({decimal(1.0 / 3), decimal(1)}));
  EXPECT_FALSE(common_lattice({decimal(0.6), decimal(std::sqrt(0.5))}));
  EXPECT_FALSE(common_lattice({decimal(0.6), decimal(0.2 + 1e-12)}));
  EXPECT_FALSE(common_lattice({decimal(1), decimal(1e-9)}));
  EXPECT_FALSE(common_lattice({}));
}

TEST(ExactLaw, EstimatesItsSize) {
  for (const std::uint64_t times : {2U, 5U, 11U}) {
    for (const Atoms& atoms : {symmetric({{0.7, 1}}), symmetric({{0.7, 0.5}, {0.29301, 0.5}}),
                               symmetric({{0.7, 0.5}, {0.29301, 0.25}, {0, 0.25}}), symmetric({{1.5, 0.25}, {0.9001, 0.5}, {0.35, 0.25}})})
      EXPECT_EQ(power_size(atoms, times).points, static_cast<double>(power(atoms, times).points.size()));
  }
  EXPECT_FALSE(power_size(symmetric({{0.7, 0.5}, {0.29301, 0.5}}), 1'000'000'000).fits());
}

}  // namespace
}  // namespace tradeoff::detail::exact
