// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/lattice/pair.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "numeric/arithmetic.h"
#include "numeric/double_double.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

// [dominating-pair] [dominated-pair] The hockey-stick divergences of both distributions compared with the profile, also between the lattice
// points.
namespace tradeoff::detail::lattice {
namespace {

/// infinite + sum of mass * (1 - exp(epsilon - loss))+ in double-double sums; good to 1e-14 relative.
double hockey_stick(const Law& law, double step, double epsilon) {
  numeric::DoubleDouble sum{law.infinite, 0};
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    const double above = step * static_cast<double>(law.index[i]) - epsilon;
    if (above > 0) sum = sum + law.mass[i] * -std::expm1(-above);
  }
  return sum.value();
}

struct Case {
  std::string name;
  LossPointer loss;
};

std::vector<Case> losses() {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  return {{"gaussian", gaussian},
          {"poisson", std::make_shared<PoissonLoss>(gaussian, Interval::exactly(0.1))},
          {"sampled", std::make_shared<SampledLoss>(gaussian, Interval::exactly(0.25))},
          {"laplace", std::make_shared<LaplaceLoss>(Interval::exactly(1.3))},
          {"randomized response", randomized_response(Interval::exactly(0.7), 3)}};
}

Points even_points(double step, double low, double high) {
  Points points{step, {}};
  const auto first = static_cast<std::int64_t>(std::floor(low / step)), last = static_cast<std::int64_t>(std::ceil(high / step));
  for (std::int64_t i = first; i <= last; ++i) points.index.push_back(i);
  return points;
}

void expect_between(const Case& one, Direction direction, const Points& points) {
  const Pair pair = discretise(*one.loss, direction, points);
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> anywhere(-6, 8);
  for (int k = 0; k < 300; ++k) {
    double epsilon = anywhere(generator);
    if (k % 3 == 0) epsilon = std::round(epsilon / points.step) * points.step;  // on the lattice
    const Interval truth = one.loss->delta(direction, Interval::exactly(epsilon));
    const double above = hockey_stick(pair.above, points.step, epsilon), below = hockey_stick(pair.below, points.step, epsilon);
    EXPECT_GE(above * (1 + 1e-14), truth.lo) << one.name << " at " << epsilon;
    EXPECT_LE(below * (1 - 1e-14), truth.hi) << one.name << " at " << epsilon;
  }
  for (const Law* law : {&pair.above, &pair.below}) {
    double total = 0;
    for (const double mass : law->mass) {
      EXPECT_GT(mass, 0);
      total += mass;
    }
    EXPECT_GE(total, law->finite_total.lo * (1 - 1e-12));
    EXPECT_LE(total, law->finite_total.hi * (1 + 1e-12));
  }
}

TEST(LatticePair, EnclosesOnAnEvenLattice) {
  for (const Case& one : losses()) {
    for (const Direction direction : {Direction::remove, Direction::add}) {
      for (const double step : {0.25, 0.0625, 0.01}) expect_between(one, direction, even_points(step, -5, 6));
    }
  }
}

TEST(LatticePair, EnclosesOnUnevenPoints) {
  std::mt19937_64 generator(5);
  std::uniform_int_distribution<std::int64_t> skip(1, 17);
  for (const Case& one : losses()) {
    Points points{1.0 / 128, {-700}};
    while (points.index.back() < 900) points.index.push_back(points.index.back() + skip(generator));
    expect_between(one, Direction::remove, points);
    expect_between(one, Direction::add, points);
  }
}

TEST(LatticePair, EnclosesAtTheFirstLoss) {
  // Losses of a rarely sampled record begin at log(1 - 0.001) and rise within a few cells.
  for (const double mu : {0.5, 1.0, 1.6, 4.0}) {
    const PoissonLoss loss(gaussian_loss(Interval::exactly(mu)), Interval::exactly(0.001));
    for (const double step : {1.1e-4, 3.7e-5, 1.3e-5}) {
      const Pair pair = discretise(loss, Direction::remove, even_points(step, -0.003, 0.01));
      for (double epsilon = -0.0015; epsilon < 0.001; epsilon += 1.7e-6) {
        const Interval truth = loss.delta(Direction::remove, Interval::exactly(epsilon));
        ASSERT_GE(hockey_stick(pair.above, step, epsilon) * (1 + 1e-14), truth.lo) << mu << " at " << epsilon;
        ASSERT_LE(hockey_stick(pair.below, step, epsilon) * (1 - 1e-14), truth.hi) << mu << " at " << epsilon;
      }
      if (mu > 2) continue;  // next to an atom between two lattice points
      // Left of its losses nothing is lost.
      EXPECT_THAT((Interval{hockey_stick(pair.below, step, -0.0014), hockey_stick(pair.above, step, -0.0014)}), test::IsTight(1e-12)) << mu;
    }
  }
}

TEST(LatticePair, IsOfSecondOrderInTheStep) {
  for (const Case& one : losses()) {
    if (one.name == "randomized response") continue;  // atoms only: first order between the points, exact on them
    const auto width_at = [&](double step) {
      const Pair pair = discretise(*one.loss, Direction::remove, even_points(step, -8, 10));
      double worst = 0;
      for (double epsilon = -1; epsilon < 1; epsilon += 0.173) {
        const double above = hockey_stick(pair.above, step, epsilon), below = hockey_stick(pair.below, step, epsilon);
        worst = std::max(worst, (above - below) / above);
      }
      return worst;
    };
    const double coarse = width_at(1.0 / 64), fine = width_at(1.0 / 512);
    EXPECT_LT(fine, coarse / 40) << one.name;  // 64 times in the limit
    EXPECT_LT(fine, 2e-3) << one.name;
  }
}

TEST(LatticePair, IsExactForAtomsTwoCellsApart) {
  const LossPointer loss = randomized_response(Interval::exactly(0.75), 2);
  const double step = 0.375 * (1 - 0x1p-40);  // atoms certainly not left of their lattice points
  const Pair pair = discretise(*loss, Direction::remove, even_points(step, -3, 3));
  for (const double epsilon : {-1.5, -0.7, 0.0, 0.2, 0.75, 0.749}) {
    const Interval truth = loss->delta(Direction::remove, Interval::exactly(epsilon));
    const Interval found{hockey_stick(pair.below, step, epsilon) * (1 - 1e-14), hockey_stick(pair.above, step, epsilon) * (1 + 1e-14)};
    EXPECT_THAT(found, test::Encloses(truth)) << epsilon;
    EXPECT_LE(found.width(), 1e-11) << epsilon;
  }
}

/// A wide profile: the enclosures vary by one per mille.
class Wobbling final : public Loss {
 public:
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const Interval exact = inner_->delta(direction, epsilon);
    const double wobble = 1e-3 * (1 + std::sin(1e4 * epsilon.lo));
    return clamp({exact.lo * (1 - wobble), exact.hi * (1 + 1e-3 - wobble / 2)}, 0, 1);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return {0, 1e-9}; }

 private:
  LossPointer inner_ = gaussian_loss(Interval::exactly(1));
};

TEST(LatticePair, EnclosesAWideProfile) {
  expect_between({"wobbling", std::make_shared<Wobbling>()}, Direction::remove, even_points(1.0 / 256, -5, 6));
}

/// A profile without information, and one that is NaN.
class Useless final : public Loss {
 public:
  explicit Useless(Interval answer) : answer_(answer) {}
  [[nodiscard]] Interval delta(Direction, Interval) const override { return answer_; }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return {0, 1}; }

 private:
  Interval answer_;
};

TEST(LatticePair, ClaimsNothingWithoutAProfile) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Interval answer : {Interval{0, 1}, Interval{nan, nan}}) {
    const Pair pair = discretise(Useless(answer), Direction::remove, even_points(0.125, -3, 3));
    for (const double epsilon : {-1.0, 0.0, 2.0}) {
      EXPECT_GE(hockey_stick(pair.above, 0.125, epsilon), 1);
      EXPECT_LE(hockey_stick(pair.below, 0.125, epsilon), std::max(0.0, -std::expm1(epsilon)) + 1e-15);
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail::lattice
