// SPDX-License-Identifier: Apache-2.0
// [cut-contour]: the closed form of one run, the lattice for several, and the laws of every profile.
#include "engine/contour/cut.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
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
