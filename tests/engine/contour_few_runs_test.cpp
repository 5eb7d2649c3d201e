// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/contour/contour.h"
#include "engine/lattice/lattice.h"
#include "operators/gaussian_mixture.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"
#include "support/profile_only.h"
#include "tradeoff/tradeoff.h"

// [raised-path] Few runs of sampled Gaussians: a march along their contours is long.
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;
using test::ProfileOnly;

// A lattice of the profiles of single runs, which knows of no transform.
TEST(ContourOfFewRuns, AgreesWithALattice) {
  struct Case {
    double mu, rate;
    std::uint64_t ahead, behind, times;
  };
  for (const Case& one : {Case{0.625, 0.5, 3, 0, 3}, {0.5, 0.25, 2, 2, 3}, {0.75, 0.375, 1, 0, 3}}) {
    const Interval mu = Interval::exactly(one.mu), rate = Interval::exactly(one.rate);
    const bool single = one.ahead == 1 && one.behind == 0;
    const LossPointer step = single ? subsampled_gaussian(mu, rate) : gaussian_mixture(mu, rate, one.ahead, one.behind, {});
    const LossPointer contour = compose_by_contour({{step, one.times}}, nullptr);
    const LossPointer lattice = compose_by_lattice({{std::make_shared<ProfileOnly>(step), one.times}}, Tolerance{1e-3});
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const double epsilon : {0.25, 1.5}) {
        const Interval at = Interval::exactly(epsilon), found = contour->log_delta(direction, at), wide = lattice->log_delta(direction, at);
        if (found.hi == -infinity) continue;  // beyond the largest loss
        EXPECT_LT(found.width(), 1e-9) << one.mu << " " << one.times << " " << epsilon;
        EXPECT_THAT(wide, Encloses(found)) << one.mu << " " << one.times << " " << epsilon;
      }
  }
}

// These took a second or more, in a lattice.
TEST(ContourOfFewRuns, IsTight) {
  for (const std::string text : {"gaussian(sigma=1.65) | poisson(rate=0.47) | group(3) | repeat(3)",
                                 "gaussian(sigma=0.8) | poisson(rate=0.25) | group(2) | repeat(4)",
                                 "gaussian(sigma=2) | poisson(rate=0.3) | repeat(3); zcdp(rho=0.01) | repeat(3)",
                                 "gaussian(sigma=1.65) | poisson(rate=0.47) | group(3) | repeat(3); dp(epsilon=0.1) | repeat(5)"}) {
    const Curve curve = analyze(parse(text));
    EXPECT_THAT(curve.epsilon_at(1e-6), IsTight(1e-9)) << text;
    EXPECT_THAT(curve.delta_at(0.5), IsTight(1e-9)) << text;
  }
}

}  // namespace
}  // namespace tradeoff::detail
