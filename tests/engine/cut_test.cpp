// SPDX-License-Identifier: Apache-2.0
// [cut-contour]: the closed form of one run, the lattice for several, and the laws of every profile.
#include "engine/contour/cut.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/lattice/lattice.h"
#include "loss/atoms.h"
#include "loss/evaluation.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/refine.h"
#include "operators/subsampled.h"

namespace tradeoff::detail {
namespace {

constexpr Direction directions[] = {Direction::remove, Direction::add};

bool overlap(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }

LossPointer zcdp(double rho, double rate, SampledBy sampling) {
  LossPointer base = refine(zcdp_bound(Interval::exactly(rho)));
  if (sampling == SampledBy::fixed) return std::make_shared<SampledLoss>(std::move(base), Interval::exactly(rate));
  return std::make_shared<PoissonLoss>(std::move(base), Interval::exactly(rate));
}

struct Case {
  double rho, rate;
  SampledBy sampling;
  std::uint64_t times;
  double epsilon;
};

TEST(CutContour, AgreesWithTheLattice) {
  for (const Case& given : {Case{0.00695, 0.0049, SampledBy::poisson, 16, 0.01}, Case{0.0694, 0.00288, SampledBy::poisson, 57, 0.03},
                            Case{0.324, 0.000766, SampledBy::poisson, 300, 0.05}, Case{0.0044, 0.00509, SampledBy::fixed, 33, 0.01},
                            Case{0.119, 0.00753, SampledBy::fixed, 66, 0.2}, Case{0.05, 0.3, SampledBy::poisson, 8, 0.6}}) {
    const Parts parts{{zcdp(given.rho, given.rate, given.sampling), given.times}};
    const LossPointer cut = compose_by_cut_contour(parts), lattice = compose_by_lattice(parts, {});
    ASSERT_NE(cut, nullptr);
    for (const Direction direction : directions)
      for (const double share : {0.3, 1.0}) {
        const Interval epsilon = Interval::exactly(share * given.epsilon), found = cut->log_delta(direction, epsilon),
                       known = lattice->log_delta(direction, epsilon);
        EXPECT_TRUE(overlap(found, known)) << given.rho << ' ' << share << ' ' << found.lo << ' ' << found.hi << ' ' << known.lo << ' '
                                           << known.hi;
        EXPECT_LE(found.width(), 1e-7) << given.rho << ' ' << share;
      }
  }
}

// Much is left out: the answers are wide, and hold.
TEST(CutContour, HoldsWhenMuchIsLeftOut) {
  for (const Case& given : {Case{0.324, 0.000766, SampledBy::poisson, 300, 0.05}, Case{0.119, 0.00753, SampledBy::fixed, 66, 0.2}}) {
    const Parts parts{{zcdp(given.rho, given.rate, given.sampling), given.times}};
    const LossPointer cut = compose_by_cut_contour(parts, 0.3), lattice = compose_by_lattice(parts, {});
    for (const double share : {0.5, 1.0}) {
      const Interval epsilon = Interval::exactly(share * given.epsilon), found = cut->log_delta(Direction::remove, epsilon),
                     known = lattice->log_delta(Direction::remove, epsilon);
      EXPECT_TRUE(overlap(found, known)) << given.rho << ' ' << share << ' ' << found.lo << ' ' << found.hi << ' ' << known.lo << ' '
                                         << known.hi;
      EXPECT_GT(found.width(), 1e-6) << given.rho << ' ' << share;
    }
  }
}

// Beside runs that reveal next to nothing one run has a closed form: what is left out is within the bounds.
TEST(CutContour, HoldsTheClosedFormOfOneRun) {
  for (const SampledBy sampling : {SampledBy::poisson, SampledBy::fixed})
    for (const auto& [rho, rate] : {std::pair{0.01, 0.01}, {0.1, 0.001}, {0.3, 0.2}}) {
      const LossPointer one = zcdp(rho, rate, sampling), cut = compose_by_cut_contour({{one, 1}, {gaussian_loss(Interval::exactly(0)), 8}});
      for (const Direction direction : directions)
        for (const double loss : {0.2, 1.0, 2.0}) {
          const double epsilon = std::log1p(rate * std::expm1(loss * std::sqrt(rho)));
          const Interval truth = one->log_delta(direction, Interval::exactly(epsilon)),
                         found = cut->log_delta(direction, Interval::exactly(epsilon));
          EXPECT_LE(found.lo, truth.hi) << rho << ' ' << rate << ' ' << loss;
          EXPECT_GE(found.hi, truth.lo) << rho << ' ' << rate << ' ' << loss;
        }
    }
}

// P(L > e) - e^e Q(L > e) is the profile, and both tails are bounded by the profile's neighbours.
TEST(CutContour, ItsTestsGiveTheProfile) {
  const LossPointer cut =
      compose_by_cut_contour({{zcdp(0.00138, 0.00616, SampledBy::poisson), 12500}, {gaussian_loss(Interval::exactly(1)), 1}});
  for (const Direction direction : directions)
    for (const double epsilon : {0.1, 1.0, 2.0}) {
      const auto test = cut->test_at(direction, epsilon);
      ASSERT_TRUE(test);
      const Interval point = Interval::exactly(epsilon);
      EXPECT_TRUE(overlap(test->true_positive - exp(point) * test->false_positive, cut->delta(direction, point))) << epsilon;
    }
}

TEST(CutContour, SampledWholeNoiseAgreesWithTheLattice) {
  for (const auto& [sigma, rate, times, epsilon] :
       {std::tuple{3.74, 0.00728, 19, 0.025}, {1.41, 0.000214, 16592, 0.1}, {4.0, 0.125, 40, 1.0}}) {
    const LossPointer step = std::make_shared<PoissonLoss>(discrete_gaussian(Interval::exactly(sigma), 1), Interval::exactly(rate));
    const Parts parts{{step, static_cast<std::uint64_t>(times)}};
    const LossPointer cut = compose_by_cut_contour(parts), lattice = compose_by_lattice(parts, {});
    ASSERT_NE(cut, nullptr);
    for (const Direction direction : directions) {
      const Interval found = cut->log_delta(direction, Interval::exactly(epsilon)),
                     known = lattice->log_delta(direction, Interval::exactly(epsilon));
      EXPECT_TRUE(overlap(found, known)) << sigma << ' ' << found.lo << ' ' << found.hi << ' ' << known.lo << ' ' << known.hi;
      EXPECT_LE(found.width(), 1e-6) << sigma;
    }
  }
}

/// Three common losses and twelve large ones that are so rare that no two of them occur.
struct RarelyLarge {
  static constexpr int runs = 20;
  std::vector<double> losses{0.27, 0, -0.31};
  std::vector<double> masses;
  std::vector<double> rare_losses, rare_masses;

  RarelyLarge() {
    double all = 0.2, under_q = 0.2 * std::exp(-0.27);
    for (int k = 0; k < 12; ++k) {
      rare_losses.push_back(6.2 + 0.31 * k);
      rare_masses.push_back(1e-26 * std::exp(-0.7 * k));
    }
    const double least = (all - under_q) / std::expm1(0.31);
    masses = {0.2, 1 - all - least, least};
  }
  [[nodiscard]] LossPointer loss() const {
    std::vector<Atom> atoms;
    for (std::size_t i = 0; i < 3; ++i) atoms.push_back({Interval::exactly(losses[i]), Interval::exactly(masses[i])});
    for (std::size_t i = 0; i < rare_losses.size(); ++i)
      atoms.push_back({Interval::exactly(rare_losses[i]), Interval::exactly(rare_masses[i])});
    return finite_loss(make_atoms(std::move(atoms), Interval::exactly(0), Interval::exactly(0), false), "", {});
  }
  /// The profile of so many runs with common losses: every list of counts.
  [[nodiscard]] long double common(int times, long double epsilon) const {
    long double sum = 0;
    for (int a = 0; a <= times; ++a)
      for (int b = 0; a + b <= times; ++b) {
        const int c = times - a - b;
        const long double loss = a * static_cast<long double>(losses[0]) + c * static_cast<long double>(losses[2]);
        if (!(loss > epsilon)) continue;
        const long double ways = std::lgamma(times + 1.0L) - std::lgamma(a + 1.0L) - std::lgamma(b + 1.0L) - std::lgamma(c + 1.0L);
        sum += std::exp(ways + a * std::log(static_cast<long double>(masses[0])) + b * std::log(static_cast<long double>(masses[1])) +
                        c * std::log(static_cast<long double>(masses[2]))) *
               -std::expm1(epsilon - loss);
      }
    return sum;
  }
  [[nodiscard]] double delta(double epsilon) const {
    long double sum = common(runs, epsilon);
    for (std::size_t i = 0; i < rare_losses.size(); ++i)
      sum += runs * static_cast<long double>(rare_masses[i]) * common(runs - 1, static_cast<long double>(epsilon) - rare_losses[i]);
    return static_cast<double>(sum);
  }
};

// Where a single large loss decides: one run in twenty has it, and the others what they have.
TEST(CutContour, CountsARareLossThatOccursOnce) {
  const RarelyLarge law;
  const LossPointer cut = compose_by_cut_contour({{law.loss(), RarelyLarge::runs}});
  ASSERT_NE(cut, nullptr);
  for (const double epsilon : {6.0, 7.0, 8.5}) {
    const Interval found = cut->delta(Direction::remove, Interval::exactly(epsilon));
    const double truth = law.delta(epsilon);
    EXPECT_LE(found.lo, truth * (1 + 1e-12)) << epsilon;
    EXPECT_GE(found.hi, truth * (1 - 1e-12)) << epsilon;
    EXPECT_LE(found.width(), 1e-3 * truth) << epsilon;
  }
}

TEST(CutContour, TakesOtherPartsAndDescribesItself) {
  const Parts parts{{zcdp(0.02, 0.01, SampledBy::poisson), 40}, {gaussian_loss(Interval::exactly(0.01)), 1}};
  const LossPointer cut = compose_by_cut_contour(parts), lattice = compose_by_lattice(parts, {});
  ASSERT_NE(cut, nullptr);
  EXPECT_TRUE(
      overlap(cut->log_delta(Direction::remove, Interval::exactly(0.05)), lattice->log_delta(Direction::remove, Interval::exactly(0.05))));
  EXPECT_FALSE(evaluations_of(*cut, Direction::remove, 0.05).empty());
  EXPECT_EQ(compose_by_cut_contour({{gaussian_loss(Interval::exactly(1)), 4}}), nullptr);
}

}  // namespace
}  // namespace tradeoff::detail
