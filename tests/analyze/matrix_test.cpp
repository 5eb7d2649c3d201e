// SPDX-License-Identifier: Apache-2.0
// [matrix-mechanism]
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;
using testing::HasSubstr;

Interval mu_of(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  // A mu-GDP loss has delta(0) = 2 Phi(mu/2) - 1: compared through epsilon, which is strictly increasing in mu.
  return analyze(parse(plan), neighbours).epsilon_at(1e-5);
}

Interval epsilon_of_gdp(const std::string& mu) { return analyze(parse("gdp(" + mu + ")")).epsilon_at(1e-5); }

void expect_same(const std::string& plan, const std::string& mu, Neighbours neighbours = Neighbours::unstated) {
  const Interval found = mu_of(plan, neighbours), expected = epsilon_of_gdp(mu);
  EXPECT_LE(std::max(found.lo, expected.lo), std::min(found.hi, expected.hi)) << plan;
  EXPECT_THAT(found, IsTight(1e-9)) << plan;
}

std::string refusal(const std::string& plan, Neighbours neighbours = Neighbours::unstated) {
  try {
    (void)analyze(parse(plan), neighbours);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

class MatrixFile : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& content) const {
    std::ofstream(path_) << content;
    return "file=\"" + path_ + "\"";
  }
  void TearDown() override { std::remove(path_.c_str()); }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / ("tradeoff_matrix_" + std::to_string(::getpid()) + ".csv")).string();
};

TEST(Matrix, IdentityAndOneParticipationIsGaussianNoise) {
  expect_same("matrix(sigma=2, coefficients=[1], steps=7)", "0.5");
  expect_same("matrix(sigma=2, coefficients=[1], steps=7, participations=4)", "1");  // four steps: sqrt(4)/2
  expect_same("matrix(sigma=2, lower=[1, 0, 1, 0, 0, 1])", "0.5");
}

TEST(Matrix, KindsAgreeWithTheirCoefficients) {
  for (const std::string rest : {"", ", participations=3, separation=2", ", participations=2, separation=3, pattern=every"}) {
    const auto asked = [&](const std::string& matrix) { return mu_of("matrix(sigma=3, " + matrix + ", steps=6" + rest + ")"); };
    const auto expect_equal = [&](const std::string& one, const std::string& other) {
      const Interval a = asked(one), b = asked(other);
      EXPECT_LE(std::max(a.lo, b.lo), std::min(a.hi, b.hi)) << one << rest;
    };
    expect_equal("kind=prefix", "coefficients=[1, 1, 1, 1, 1, 1]");
    expect_equal("kind=square_root", "coefficients=[1, 1/2, 3/8, 5/16, 35/128, 63/256]");
    expect_equal("kind=blt, scales=[1/2, 1/4], decays=[0.5, 1]", "coefficients=[1, 3/4, 1/2, 3/8, 5/16, 9/32]");
    expect_equal("coefficients=[1, 0.5]", "lower=[1, 0.5, 1, 0, 0.5, 1, 0, 0, 0.5, 1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 0.5, 1]");
  }
}

// (1, -0.9) and (0, 1) with opposite signs: 1 + 1.9^2. As if the coefficients fell to 0, it would be 1 + 0.1^2.
TEST(Matrix, SignsAreTestedOnTheGivenNumbers) {
  expect_same("matrix(sigma=1, coefficients=[1, -0.9], steps=2, participations=2)", "2.1470910553583890051883");
  expect_same("matrix(sigma=1, kind=blt, scales=[-0.9], decays=[0.5], steps=2, participations=2)", "2.1470910553583890051883");
  // Coefficients that do not fall: columns (1, 0, 2), (0, 1, 0), (0, 0, 1), of which the first and the last are worst, not the first two.
  expect_same("matrix(sigma=1, coefficients=[1, 0, 2], steps=3, participations=2)", "3.1622776601683793319989");
}

TEST(Matrix, ScalesWithClipAndNeighbours) {
  expect_same("matrix(sigma=1, kind=prefix, steps=9, clip=0.1)", "0.3", Neighbours::zero_out);
  expect_same("matrix(sigma=1, kind=prefix, steps=9, clip=0.1)", "0.6", Neighbours::replace_one);
  expect_same("matrix(sigma=1, kind=prefix, steps=9, sensitivity=0.1)", "0.3", Neighbours::replace_one);
  EXPECT_EQ(analyze(parse("matrix(sigma=1, kind=prefix, steps=9)")).neighbours(), Neighbours::zero_out);
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=9)", Neighbours::replace_one), HasSubstr("give clip"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=9, clip=1, sensitivity=1)"), HasSubstr("clip or sensitivity, not both"));
}

TEST(Matrix, RepeatedRunsCompose) {
  expect_same("matrix(sigma=1, kind=prefix, steps=9, clip=0.1) | repeat(4)", "0.6", Neighbours::zero_out);
}

// A matrix with a sensitivity between bounds: each end is that of its own Gaussian.
TEST(Matrix, ASensitivityBetweenBoundsIsComposedFromBothEnds) {
  // Three columns, any two of which point away from each other: no signs make all of them add.
  const std::string plan = "matrix(sigma=4, lower=[1, -0.75, 1, -0.5, -0.5, 1], participations=3)";
  const Interval once = mu_of(plan), thrice = mu_of(plan + " | repeat(3)");
  EXPECT_LT(once.lo, once.hi * 0.999);
  EXPECT_LT(once.hi, thrice.hi);
  EXPECT_LT(once.lo, thrice.lo);
}

TEST(Matrix, PromisesAreExplained) {
  const Curve curve = analyze(parse("matrix(sigma=1, kind=prefix, steps=90, participations=3, separation=30)"));
  const Provenance provenance = provenance_of([&] { (void)curve.epsilon_at(1e-5); });
  std::string text;
  for (const Step& step : provenance.steps) text += step.theorem + ": " + step.detail + "\n";
  EXPECT_THAT(text, HasSubstr("matrix-mechanism: "));
  EXPECT_THAT(text, HasSubstr("at most 3 steps"));
  EXPECT_THAT(text, HasSubstr("at least 30 apart"));
  EXPECT_THAT(text, HasSubstr("matrix-sensitivity: "));
  const Curve tree = analyze(parse("matrix(sigma=1, kind=tree, steps=8)"));
  const Provenance of_tree = provenance_of([&] { (void)tree.epsilon_at(1e-5); });
  EXPECT_EQ(of_tree.steps.at(1).theorem, "tree-sensitivity");
}

TEST(Matrix, RefusesBadInput) {
  EXPECT_THAT(refusal("matrix(sigma=1, steps=4)"), HasSubstr("exactly one of coefficients, file, lower and kind"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, coefficients=[1], steps=4)"), HasSubstr("not coefficients and kind"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=toeplitz, steps=4)"), HasSubstr("must be tree, square_root, prefix or blt"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=tree, steps=6)"), HasSubstr("a power of two for kind = tree; the next one, 8"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=blt, steps=6)"), HasSubstr("needs scales and decays"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=blt, scales=[1], decays=[1, 1], steps=6)"), HasSubstr("the same length"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, decays=[1], steps=6)"), HasSubstr("belongs to kind = blt"));
  EXPECT_THAT(refusal("matrix(sigma=1, coefficients=[1, 2, 3], steps=2)"), HasSubstr("at most one for each of the steps"));
  EXPECT_THAT(refusal("matrix(sigma=1, coefficients=[1])"), HasSubstr("steps is missing"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=0)"), HasSubstr("steps = 0"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=4, participations=0)"), HasSubstr("participations = 0"));
  EXPECT_THAT(refusal("matrix(sigma=0, kind=prefix, steps=4)"), HasSubstr("sigma = 0"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=4, pattern=shuffled)"), HasSubstr("min_sep"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=1e9)"), HasSubstr("at most 10000000"));
  EXPECT_THAT(refusal("matrix(sigma=1, lower=[1, 2])"), HasSubstr("1 + 2 + ... + n numbers"));
  EXPECT_THAT(refusal("matrix(sigma=1, lower=[1, 2, 3], steps=3)"), HasSubstr("the number of rows of the matrix, 2"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=4)", Neighbours::add_remove), HasSubstr("one record more or fewer"));
  EXPECT_THAT(refusal("mixture([(1, matrix(sigma=1, kind=prefix, steps=4))])", Neighbours::add_remove),
              HasSubstr("one record more or fewer"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=4) | poisson(0.1)", Neighbours::zero_out), HasSubstr("cyclic"));
  EXPECT_THAT(refusal("matrix(sigma=1, coefficients=[1], steps=4) | repeat(2) | cyclic(2, 0.1, 4)", Neighbours::zero_out),
              HasSubstr("not proved"));
  EXPECT_THAT(refusal("(matrix(sigma=1, coefficients=[1], steps=4); gaussian(1)) | poisson(0.1)", Neighbours::zero_out),
              HasSubstr("not proved"));
  EXPECT_THAT(refusal("matrix(sigma=1, kind=prefix, steps=4, clip=1) | sample(1, 10)", Neighbours::replace_one), HasSubstr("cyclic"));
}

TEST_F(MatrixFile, ReadsAWholeMatrixOrItsLowerTriangle) {
  expect_same("matrix(sigma=10, " + file("3, 0\n4; 5 # last row\n") + ")", "0.5");
  expect_same("matrix(sigma=10, " + file("3\n4 5\n") + ", participations=2)", "0.94868329805051379959966806332");  // |(3, 9)|
  expect_same("matrix(sigma=10, " + file("7\n") + ", steps=1)", "0.7");
}

TEST_F(MatrixFile, RefusesWhatIsNotLowerTriangular) {
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("1, 0.5\n0, 1\n") + ")"), HasSubstr("above the diagonal and must be 0"));
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("1, 0\nnan, 1\n") + ")"), HasSubstr("\"nan\" is not a number"));
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("1, 0\n0, 1\n0, 0\n") + ")"), HasSubstr("must hold"));
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("1, 0, 0\n0, 1, 0\n") + ")"), HasSubstr("must be square"));
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("1\n2\n") + ")"),
              HasSubstr("row 2 of a square matrix, or of its lower triangle, must hold 2"));
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("# nothing\n") + ")"), HasSubstr("holds no rows"));
  EXPECT_THAT(refusal("matrix(sigma=1, " + file("1e400\n") + ")"), HasSubstr("1e400"));
  EXPECT_THAT(refusal("matrix(sigma=1, file=\"no such file\")"), HasSubstr("is not a file"));
}

}  // namespace
}  // namespace tradeoff::detail
