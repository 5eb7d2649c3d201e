// SPDX-License-Identifier: Apache-2.0
// [matrix-sensitivity] [tree-sensitivity]
#include "mechanism/matrix_sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::IsTight;

using Matrix = std::vector<std::vector<double>>;  // rows; entries above the diagonal are not used

/// Every allowed set of steps.
void for_each_set(const Participation& allowed, const std::function<void(const std::vector<std::size_t>&)>& use) {
  std::vector<std::size_t> steps;
  const std::function<void(std::size_t)> extend = [&](std::size_t from) {
    use(steps);
    if (steps.size() == allowed.most) return;
    for (std::size_t t = from; t < allowed.steps; ++t) {
      if (allowed.every && !steps.empty() && t != from) break;
      steps.push_back(t);
      extend(t + allowed.separation);
      steps.pop_back();
    }
  };
  extend(0);
}

double dot(const Matrix& c, std::size_t s, std::size_t t) {
  double sum = 0;
  for (std::size_t row = std::max(s, t); row < c.size(); ++row) sum += c[row][s] * c[row][t];
  return sum;
}

/// The largest sum over sets of the sizes of the Gram matrix: the sensitivity if no entry is negative, an upper bound otherwise.
double by_sizes(const Matrix& c, const Participation& allowed) {
  double best = 0;
  for_each_set(allowed, [&](const std::vector<std::size_t>& steps) {
    double sum = 0;
    for (const std::size_t s : steps)
      for (const std::size_t t : steps) sum += std::abs(dot(c, s, t));
    best = std::max(best, sum);
  });
  return std::sqrt(best);
}

/// The largest norm that signs and vectors found by alternating maximisation reach: a lower bound of the sensitivity.
double by_search(const Matrix& c, const Participation& allowed) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  double best = 0;
  for_each_set(allowed, [&](const std::vector<std::size_t>& steps) {
    constexpr std::size_t dimension = 3;
    for (int start = 0; start < 4; ++start) {
      std::vector<std::array<double, dimension>> u(steps.size());
      for (auto& one : u)
        for (double& x : one) x = normal(random);
      double value = 0;
      for (int round = 0; round < 30; ++round) {
        value = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
          std::array<double, dimension> pull{};
          for (std::size_t j = 0; j < steps.size(); ++j)
            for (std::size_t d = 0; d < dimension; ++d)
              if (i != j) pull[d] += dot(c, steps[i], steps[j]) * u[j][d];
          const double size = std::sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]);
          const double own = std::sqrt(u[i][0] * u[i][0] + u[i][1] * u[i][1] + u[i][2] * u[i][2]);
          for (std::size_t d = 0; d < dimension; ++d) u[i][d] = size > 0 ? pull[d] / size : u[i][d] / own;
        }
        for (std::size_t i = 0; i < steps.size(); ++i)
          for (std::size_t j = 0; j < steps.size(); ++j)
            for (std::size_t d = 0; d < dimension; ++d) value += dot(c, steps[i], steps[j]) * u[i][d] * u[j][d];
      }
      best = std::max(best, value);
    }
  });
  return std::sqrt(best);
}

Matrix toeplitz(const std::vector<double>& c, std::size_t n) {
  Matrix rows(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) rows[i][j] = i - j < c.size() ? c[i - j] : 0;
  return rows;
}

std::vector<Interval> exact(const std::vector<double>& values) {
  std::vector<Interval> result;
  for (const double value : values) result.push_back(Interval::exactly(value));
  return result;
}

LowerTriangle triangle(const Matrix& rows) {
  std::vector<Interval> entries;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) entries.push_back(Interval::exactly(rows[i][j]));
  return LowerTriangle(entries, rows.size());
}

constexpr double slack = 1e-12;  // of the double arithmetic of this test

/// Contained, and tight.
void expect_exact(Interval found, double truth, const std::string& what) {
  EXPECT_LE(found.lo, truth * (1 + slack)) << what;
  EXPECT_GE(found.hi, truth * (1 - slack)) << what;
  EXPECT_LE(found.width(), slack * truth) << what;
}

struct Draw {
  std::mt19937 random;
  std::uint64_t whole(std::uint64_t least, std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(least, most)(random); }
  double real(double least, double most) { return std::uniform_real_distribution<double>(least, most)(random); }
  Participation participation(std::uint64_t most_steps) {
    const std::uint64_t steps = whole(1, most_steps);
    return {.steps = steps, .most = whole(1, 4), .separation = whole(1, steps + 1), .every = whole(0, 1) == 1};
  }
};

std::string to_text(const Participation& p) {
  return "steps " + std::to_string(p.steps) + ", most " + std::to_string(p.most) + ", separation " + std::to_string(p.separation) +
         (p.every ? ", every" : "");
}

TEST(MatrixSensitivity, EnclosesTheGoldenValues) {
  int cases = 0;
  for (const auto& one : golden_group("sampling_schemes.json", "matrix_sensitivity")) {
    const auto& inputs = one["inputs"];
    const Participation allowed{.steps = inputs["steps"].get<std::uint64_t>(),
                                .most = inputs["participations"].get<std::uint64_t>(),
                                .separation = inputs["separation"].get<std::uint64_t>(),
                                .every = false};
    const std::string matrix = inputs["matrix"].get<std::string>();
    SCOPED_TRACE(one["id"].get<std::string>() + ": " + matrix);
    Interval found;
    if (matrix == "tree") {
      found = tree_sensitivity(allowed).value;
    } else if (matrix == "prefix sums") {
      found = toeplitz_sensitivity(std::vector<Interval>(allowed.steps, Interval::exactly(1)), true, allowed).value;
    } else if (matrix == "square-root Toeplitz") {
      found = toeplitz_sensitivity(square_root_coefficients(allowed.steps), true, allowed).value;
    } else {
      ASSERT_EQ(matrix, "blt a=1/2 l=9/10");
      const std::vector<Interval> scales{Interval::exactly(0.5)}, decays{Interval::exactly(9) / 10.0};
      found = toeplitz_sensitivity(buffered_coefficients(scales, decays, allowed.steps), true, allowed).value;
    }
    EXPECT_THAT(found, Encloses(one["value"].get<std::string>()));
    EXPECT_THAT(found, IsTight(1e-14));
    ++cases;
  }
  EXPECT_EQ(cases, 6);
}

TEST(MatrixSensitivity, CoefficientsThatFallAgreeWithAllSets) {
  Draw draw{std::mt19937(1)};
  for (int trial = 0; trial < 300; ++trial) {
    const Participation allowed = draw.participation(9);
    std::vector<double> c(draw.whole(1, 10));
    for (double& one : c) one = draw.real(0, 1);
    std::sort(c.rbegin(), c.rend());
    const Interval found = toeplitz_sensitivity(exact(c), true, allowed).value;
    expect_exact(found, by_sizes(toeplitz(c, allowed.steps), allowed), to_text(allowed));
  }
}

TEST(MatrixSensitivity, RunningSumsAgreeWithSumsOfColumns) {
  const std::vector<Interval> c = square_root_coefficients(1000);
  for (const std::uint64_t separation : {1, 7, 100, 999}) {
    const Participation all{.steps = 1000, .most = 1000, .separation = separation};
    Interval squared = Interval::exactly(0);
    for (std::uint64_t row = 0; row < 1000; ++row) {
      Interval sum = Interval::exactly(0);
      for (std::uint64_t t = 0; t <= row; t += separation) sum = sum + c[row - t];
      squared = squared + square(sum);
    }
    EXPECT_THAT(toeplitz_sensitivity(c, true, all).value, Encloses(Interval::exactly(middle_of(sqrt(squared)))));
  }
}

// Coefficients of any sign: the truth lies between what a search reaches and the sum of sizes; where no entry of the Gram matrix is
// negative and the set is fixed, the answer is exact.
TEST(MatrixSensitivity, AnyMatrixLiesBetweenSearchAndSizes) {
  Draw draw{std::mt19937(2)};
  for (int trial = 0; trial < 200; ++trial) {
    const Participation allowed = draw.participation(7);
    const std::size_t n = allowed.steps;
    const bool banded = draw.whole(0, 1) == 1;
    Matrix rows(n, std::vector<double>(n, 0.0));
    const std::size_t width = draw.whole(1, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) rows[i][j] = banded && i - j >= width ? 0 : draw.real(-1, 1);
    const Interval found = triangle_sensitivity(triangle(rows), allowed).value;
    const std::string what = to_text(allowed) + ", width " + std::to_string(width);
    EXPECT_GE(found.hi, by_search(rows, allowed) * (1 - slack)) << what;
    EXPECT_LE(found.lo, by_sizes(rows, allowed) * (1 + slack)) << what;
    if (allowed.largest_count() == 1 || (banded && width <= allowed.separation)) expect_exact(found, by_sizes(rows, allowed), what);
  }
}

TEST(MatrixSensitivity, SignedToeplitzCoefficientsAgreeWithTheirMatrix) {
  Draw draw{std::mt19937(3)};
  for (int trial = 0; trial < 200; ++trial) {
    const Participation allowed = draw.participation(7);
    std::vector<double> c(draw.whole(1, 7));
    for (double& one : c) one = draw.real(-1, 1);
    const Matrix rows = toeplitz(c, allowed.steps);
    const Interval found = toeplitz_sensitivity(exact(c), false, allowed).value;
    const Interval same = triangle_sensitivity(triangle(rows), allowed).value;
    EXPECT_NEAR(found.lo, same.lo, 1e-12) << to_text(allowed);
    EXPECT_NEAR(found.hi, same.hi, 1e-12) << to_text(allowed);
    EXPECT_GE(found.hi, by_search(rows, allowed) * (1 - slack)) << to_text(allowed);
  }
}

TEST(MatrixSensitivity, NonNegativeMatricesAreExactInAFixedOrder) {
  Draw draw{std::mt19937(4)};
  for (int trial = 0; trial < 100; ++trial) {
    Participation allowed = draw.participation(8);
    allowed.every = true;
    Matrix rows(allowed.steps, std::vector<double>(allowed.steps, 0.0));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) rows[i][j] = draw.real(0, 1);
    expect_exact(triangle_sensitivity(triangle(rows), allowed).value, by_sizes(rows, allowed), to_text(allowed));
  }
}

// Entries that are known only between bounds: both ends are possible, so the sensitivity of either is enclosed.
TEST(MatrixSensitivity, EnclosesEveryMatrixBetweenBounds) {
  const Participation allowed{.steps = 3, .most = 3, .separation = 1};
  const std::vector<Interval> wide{{1, 1.5}, {-0.5, -0.25}, {1, 2}, {0.25, 0.5}, {-1, -0.5}, {0.5, 1}};
  std::vector<Interval> low, high;
  for (const Interval& one : wide) {
    low.push_back(Interval::exactly(one.lo));
    high.push_back(Interval::exactly(one.hi));
  }
  const Interval found = triangle_sensitivity(LowerTriangle(wide, 3), allowed).value;
  for (const auto& ends : {low, high}) {
    const Interval exactly = triangle_sensitivity(LowerTriangle(ends, 3), allowed).value;
    EXPECT_LE(found.lo, exactly.hi);
    EXPECT_GE(found.hi, exactly.lo);
  }
  const std::vector<Interval> coefficients{{1, 2}, {-1, -0.5}};
  const Interval toeplitz_found = toeplitz_sensitivity(coefficients, false, allowed).value;
  for (const auto& ends : {exact({1, -1}), exact({2, -0.5}), exact({2, -1})})
    EXPECT_GE(toeplitz_found.hi, toeplitz_sensitivity(ends, false, allowed).value.lo);
}

// A matrix that no rule knows to be special, but whose worst set the bound finds: the interval closes by itself.
TEST(MatrixSensitivity, TheGeneralBoundIsTightForFallingCoefficients) {
  const std::vector<Interval> c = square_root_coefficients(64);
  for (const std::uint64_t separation : {1, 5, 16}) {
    const Participation allowed{.steps = 64, .most = 4, .separation = separation};
    const Interval known = toeplitz_sensitivity(c, true, allowed).value;
    const Interval general = toeplitz_sensitivity(c, false, allowed).value;
    EXPECT_THAT(general, Encloses(Interval::exactly(middle_of(known))));
    EXPECT_THAT(general, IsTight(1e-12));
  }
}

Matrix tree_nodes(std::size_t leaves) {
  Matrix rows;
  for (std::size_t size = 1; size <= leaves; size *= 2)
    for (std::size_t first = 0; first < leaves; first += size) {
      rows.emplace_back(leaves, 0.0);
      std::fill_n(rows.back().begin() + static_cast<std::ptrdiff_t>(first), size, 1.0);
    }
  return rows;
}

double tree_by_all_sets(const Participation& allowed) {
  const Matrix nodes = tree_nodes(allowed.steps);
  double best = 0;
  for_each_set(allowed, [&](const std::vector<std::size_t>& steps) {
    double sum = 0;
    for (const auto& node : nodes) {
      double below = 0;
      for (const std::size_t t : steps) below += node[t];
      sum += below * below;
    }
    best = std::max(best, sum);
  });
  return std::sqrt(best);
}

TEST(TreeSensitivity, AgreesWithAllSets) {
  for (const std::uint64_t steps : {1, 2, 4, 8, 16})
    for (std::uint64_t most = 1; most <= 5; ++most)
      for (std::uint64_t separation = 1; separation <= steps; ++separation)
        for (const bool every : {false, true}) {
          const Participation allowed{.steps = steps, .most = most, .separation = separation, .every = every};
          expect_exact(tree_sensitivity(allowed).value, tree_by_all_sets(allowed), to_text(allowed));
        }
}

TEST(TreeSensitivity, IsBoundedLevelByLevelWhereTheTableIsTooLarge) {
  const std::uint64_t steps = std::uint64_t{1} << 30;
  const Interval found = tree_sensitivity({.steps = steps, .most = 10, .separation = steps / 16}).value;
  EXPECT_GT(found.lo, std::sqrt(10 * 31.0));  // each participation meets every level
  EXPECT_LE(found.hi, std::sqrt(100 * 31.0));
  EXPECT_LE(found.hi / found.lo, 1.1);
  EXPECT_EQ(tree_sensitivity({.steps = steps, .most = 1, .separation = 1}).value, sqrt(Interval::exactly(31)));
}

// A tree whose leaves are trees of depth d: every participation meets d more levels, and nothing else changes.
TEST(TreeSensitivity, TheLevelBoundEnclosesTheTable) {
  for (const std::uint64_t separation : {3, 5, 8, 11}) {
    const std::uint64_t leaves = 64, most = 6, depth = 20, size = std::uint64_t{1} << depth;
    const Interval table = tree_sensitivity({.steps = leaves, .most = most, .separation = separation}).value;
    ASSERT_LE(table.width(), 1e-14 * table.hi);
    const Interval bounds = tree_sensitivity({.steps = leaves * size, .most = most, .separation = separation * size}).value;
    EXPECT_THAT(bounds, Encloses(sqrt(square(table) + static_cast<double>(depth * most))));
  }
}

TEST(MatrixSensitivity, RefusesWhatIsTooLarge) {
  const std::vector<Interval> signs = exact({1, -1, 1, -1, 1});
  EXPECT_THROW((void)toeplitz_sensitivity(signs, false, {.steps = 20001, .most = 2, .separation = 2}), TooLargeError);
  EXPECT_NO_THROW((void)toeplitz_sensitivity(signs, false, {.steps = 20001, .most = 2, .separation = 5}));
}

}  // namespace
}  // namespace tradeoff::detail
