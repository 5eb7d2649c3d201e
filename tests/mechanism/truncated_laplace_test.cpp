// SPDX-License-Identifier: Apache-2.0
// [truncated-laplace-profile]
#include "mechanism/truncated_laplace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

/// The mechanism calibrated to (epsilon, delta) by the formula of the source: scale 1/epsilon, bound from delta.
TruncatedLaplaceLoss calibrated(Interval epsilon, Interval delta) { return {epsilon, log1p(expm1(epsilon) / (2.0 * delta))}; }

TEST(TruncatedLaplace, GoldenProfiles) {
  for (const auto& entry : test::golden_group("f_dp.json", "tlap_delta")) {
    const auto& in = entry["inputs"];
    const auto loss = calibrated(test::golden_interval(in["eps"]), test::golden_interval(in["delta"]));
    const Interval found = loss.delta(Direction::remove, test::golden_interval(in["t"]));
    SCOPED_TRACE(in.dump());
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>()));
    EXPECT_THAT(found, IsTight(1e-9));
  }
}

/// Brute force: the hockey stick as a Riemann sum over a fine grid, good to a few 1e-6.
double brute_force(double e0, double reach, double epsilon) {
  const int cells = 400'000;
  const double normalizer = 2 * -std::expm1(-reach);
  const double low = -reach;
  const double high = e0 + reach;
  const double step = (high - low) / cells;
  double sum = 0;
  for (int i = 0; i < cells; ++i) {
    const double y = low + (i + 0.5) * step;
    const double p = std::abs(y) <= reach ? std::exp(-std::abs(y)) / normalizer : 0;
    const double q = std::abs(y - e0) <= reach ? std::exp(-std::abs(y - e0)) / normalizer : 0;
    sum += std::max(0.0, p - std::exp(epsilon) * q) * step;
  }
  return sum;
}

TEST(TruncatedLaplace, EveryRegimeAgreesWithBruteForce) {
  for (const auto& [e0, reach] : {std::pair{1.0, 3.0}, {1.0, 1.0}, {1.0, 0.8}, {1.0, 0.55}, {1.0, 0.4}, {3.0, 2.0}, {0.2, 5.0}}) {
    const TruncatedLaplaceLoss loss(Interval::exactly(e0), Interval::exactly(reach));
    for (const double epsilon : {-1.0, -0.2, 0.0, 0.05, 0.3, 0.7, 1.0, 2.0, 5.0}) {
      const Interval found = loss.delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_NEAR((found.lo + found.hi) / 2, brute_force(e0, reach, epsilon), 2e-5) << e0 << " " << reach << " " << epsilon;
    }
  }
}

TEST(TruncatedLaplace, BeyondTheLargestLossOnlyTheInfiniteMassIsLeft) {
  const TruncatedLaplaceLoss loss(Interval::exactly(1), Interval::exactly(4));
  const Interval mass = loss.infinite_mass(Direction::remove);
  EXPECT_GT(mass.lo, 0);
  EXPECT_EQ(loss.delta(Direction::remove, Interval::exactly(50)), mass);
  EXPECT_EQ(loss.delta(Direction::remove, Interval::exactly(infinity)), mass);
}

}  // namespace
}  // namespace tradeoff::detail
