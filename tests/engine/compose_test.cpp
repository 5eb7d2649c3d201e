// SPDX-License-Identifier: Apache-2.0
// [gaussian-composition], [revealing-composition], [clip-norm]
#include "engine/compose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

TEST(Compose, GaussiansAddSquares) {
  const Composition composition = compose({{gaussian_loss(Interval::exactly(3)), 1}, {gaussian_loss(Interval::exactly(2)), 4}}, {});
  const Provenance found = provenance_of([&] { (void)composition.loss->delta(Direction::remove, Interval::exactly(1)); });
  EXPECT_EQ(found.method, Method::closed_form);
  EXPECT_EQ(found.steps.front().theorem, "gaussian-composition");
  EXPECT_THAT(*composition.loss->gaussian_mu(), Encloses(5.0));
  EXPECT_THAT(*composition.loss->gaussian_mu(), IsTight(1e-15));
}

/// Several sums of the same clipped records are one sum of clipped records; one sum without a clip norm spoils it.
TEST(Compose, GaussiansKeepAClipNormThatAllOfThemHave) {
  const auto of = [](bool bounded) { return bounded ? GaussianOf::clipped_noise : GaussianOf::noise; };
  const auto clipped = [&](bool first, bool second) {
    const LossPointer merged =
        compose({{gaussian_loss(Interval::exactly(3), {}, of(first)), 1}, {gaussian_loss(Interval::exactly(2), {}, of(second)), 4}}, {})
            .loss;
    return merged->capabilities(Direction::remove).clipped;
  };
  EXPECT_TRUE(clipped(true, true));
  EXPECT_FALSE(clipped(true, false));
  EXPECT_FALSE(clipped(false, true));
  EXPECT_FALSE(compose({}, {}).loss->capabilities(Direction::remove).clipped);
}

TEST(Compose, ASingleMechanismIsUnchanged) {
  const auto laplace = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  EXPECT_EQ(compose({{laplace, 1}}, {}).loss, laplace);
  EXPECT_EQ(compose({{laplace, 1}, {gaussian_loss(Interval::exactly(0)), 5}}, {}).loss, laplace);
}

TEST(Compose, ProbabilitiesOfRevealingNothingMultiply) {
  const auto reveal = [](double delta) {
    return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(0), Interval::exactly(delta)}});
  };
  const auto laplace = std::make_shared<LaplaceLoss>(Interval::exactly(1));
  const Composition composition = compose({{laplace, 1}, {reveal(0.25), 2}, {reveal(0.5), 1}}, {});
  const Interval at = Interval::exactly(0.5);
  const Interval kept = Interval::exactly(0.75 * 0.75 * 0.5);
  EXPECT_THAT(composition.loss->delta(Direction::remove, at), Encloses(1.0 - kept * (1.0 - laplace->delta(Direction::remove, at))));
  EXPECT_THAT(composition.loss->delta(Direction::add, Interval::exactly(infinity)), Encloses(1 - 0.75 * 0.75 * 0.5));
  EXPECT_THAT(composition.loss->delta(Direction::remove, at), IsTight(1e-14));
}

TEST(Compose, FewSamplesOfFixedSizeUseATightEngine) {
  const auto few = [](double mu, double rate, std::uint64_t times, double epsilon) {
    const Composition composition =
        compose({{std::make_shared<SampledLoss>(gaussian_loss(Interval::exactly(mu)), Interval::exactly(rate)), times}}, {});
    return provenance_of([&] {
      EXPECT_THAT(composition.loss->delta(Direction::remove, Interval::exactly(epsilon)), IsTight(1e-6))
          << mu << " " << rate << " " << times;
    });
  };
  const Provenance bent = few(1, 0.01, 5, 0.25);
  EXPECT_EQ(bent.method, Method::contour);
  const std::vector<Step>& steps = bent.steps;
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.theorem == "sampled-plane"; }));
  EXPECT_EQ(few(0.25, 1e-3, 3, 1e-3).method, Method::lattice);
  EXPECT_EQ(few(1, 0.1, 100, 4).method, Method::contour);
}

TEST(Compose, NoMechanismIsPerfectPrivacy) {
  EXPECT_EQ(*compose({}, {}).loss->gaussian_mu(), Interval::exactly(0));
  EXPECT_EQ(*compose({{std::make_shared<LaplaceLoss>(Interval::exactly(1)), 0}}, {}).loss->gaussian_mu(), Interval::exactly(0));
}

}  // namespace
}  // namespace tradeoff::detail
