// SPDX-License-Identifier: Apache-2.0
// [observed-mixture]
#include "operators/mixture.h"

#include <gtest/gtest.h>

#include "engine/exact/exact.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_interval;
using test::IsTight;
using test::read_golden;

LossPointer constraints(std::vector<std::pair<double, double>> list) {
  std::vector<Guarantee> constraints;
  for (const auto& [epsilon, delta] : list) constraints.push_back({Interval::exactly(epsilon), Interval::exactly(delta)});
  return std::make_shared<ConstraintsLoss>(constraints);
}

TEST(Mixture, EnclosesTheGoldenValues) {
  int cases = 0;
  const auto golden = read_golden("multiple_constraints.json");
  for (const auto& test : golden["cases"]) {
    if (test["kind"] != "observed_class_mixture") continue;
    SCOPED_TRACE(test["id"].get<std::string>());
    std::vector<MixtureComponent> components;
    for (const auto& component : test["inputs"]["components"]) {
      std::vector<Guarantee> list;
      for (const auto& one : component["constraints"]) list.push_back({golden_interval(one["eps"]), golden_interval(one["delta"])});
      components.push_back({golden_interval(component["weight"]), std::make_shared<ConstraintsLoss>(list)});
    }
    const LossPointer mixture = mixture_loss(components);
    const LossPointer listed = compose_exactly({{mixture, 1}}, {});
    for (const auto& point : test["expected"]["delta"]) {
      for (const LossPointer& loss : {mixture, listed}) {
        const Interval delta = loss->delta(Direction::remove, golden_interval(point["eps"]));
        EXPECT_THAT(delta, Encloses(point["delta"].get<std::string>())) << point;
        EXPECT_THAT(delta, IsTight(1e-12)) << point;
      }
    }
    for (const auto& point : test["expected"]["tradeoff"]) {
      const Interval beta = *listed->closed_beta(Direction::remove, golden_interval(point["alpha"]));
      EXPECT_THAT(beta, Encloses(point["beta"].get<std::string>())) << point;
      EXPECT_LE(beta.width(), 1e-12) << point;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

TEST(Mixture, IsCorrectWithAnInactiveConstraint) {
  // Published code keeps the line of (1, 0.1), which matters only outside [0, 1], and returns 0.9088.
  const LossPointer mixture =
      mixture_loss({{Interval::exactly(0.5), constraints({{1, 0.1}, {0.5, 0.05}})}, {Interval::exactly(0.5), constraints({{1.5, 0}})}});
  const Interval start = *compose_exactly({{mixture, 1}}, {})->closed_beta(Direction::remove, Interval::exactly(0));
  EXPECT_THAT(start, Encloses(Interval{0.975, 0.975}));
  EXPECT_THAT(start, IsTight(1e-14));
}

TEST(Mixture, OfCompositionsIsTheCompositionOfMixtures) {
  // [multi-constraint-composition] k draws of an observed mixture are a binomial mixture of compositions.
  const LossPointer a = constraints({{1.2, 0}});
  const LossPointer b = constraints({{0.6, 0.1}});
  const LossPointer mixture = mixture_loss({{Interval::exactly(0.25), a}, {Interval::exactly(0.75), b}});
  const LossPointer composed = compose_exactly({{mixture, 3}}, {});
  std::vector<MixtureComponent> components;
  const std::vector<double> binomial{1, 3, 3, 1};
  for (std::uint64_t i = 0; i <= 3; ++i) {
    const double weight = binomial[i] * std::pow(0.25, static_cast<double>(i)) * std::pow(0.75, static_cast<double>(3 - i));
    Parts parts;
    if (i > 0) parts.push_back({a, i});
    if (i < 3) parts.push_back({b, 3 - i});
    components.push_back({Interval::exactly(weight), compose_exactly(parts, {})});
  }
  const LossPointer expected = mixture_loss(components);
  for (const double epsilon : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.5}) {
    const Interval delta = composed->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(delta, Encloses(expected->delta(Direction::remove, Interval::exactly(epsilon)))) << epsilon;
    EXPECT_THAT(delta, IsTight(1e-12)) << epsilon;
  }
}

TEST(Mixture, TakesAnyLosses) {
  const LossPointer mixture =
      mixture_loss({{Interval::exactly(0.25), gaussian_loss(Interval::exactly(1))}, {Interval::exactly(0.75), constraints({{1, 1e-3}})}});
  EXPECT_EQ(mixture->atoms(Direction::remove), nullptr);
  EXPECT_TRUE(mixture->symmetric());
  const Interval at = Interval::exactly(0.4);
  const Interval expected = 0.25 * gaussian_loss(Interval::exactly(1))->delta(Direction::remove, at) +
                            0.75 * constraints({{1, 1e-3}})->delta(Direction::remove, at);
  EXPECT_THAT(mixture->delta(Direction::remove, at), Encloses(expected));
  EXPECT_THAT(exp(mixture->log_delta(Direction::remove, at)), Encloses(expected));
  EXPECT_THAT(mixture->infinite_mass(Direction::remove), Encloses(0.75 * Interval::exactly(1e-3)));
  EXPECT_NE(mixture->key(),
            mixture_loss({{Interval::exactly(0.75), constraints({{1, 1e-3}})}, {Interval::exactly(0.25), constraints({{1, 0}})}})->key());
}

TEST(Mixture, RefusesBadWeights) {
  const LossPointer a = constraints({{1, 0}});
  EXPECT_THROW((void)mixture_loss({}), DomainError);
  EXPECT_THROW((void)mixture_loss({{Interval::exactly(0.5), a}, {Interval::exactly(0.25), a}}), DomainError);
  EXPECT_THROW((void)mixture_loss({{Interval::exactly(1.5), a}, {Interval::exactly(-0.5), a}}), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail
