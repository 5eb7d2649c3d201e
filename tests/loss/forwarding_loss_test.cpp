// SPDX-License-Identifier: Apache-2.0
#include "loss/forwarding_loss.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "engine/exact/exact.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "operators/subsampled_gaussian.h"

namespace tradeoff::detail {
namespace {

/// Forwards everything, in either order, and adds nothing.
class Forwarded final : public ForwardingLoss {
 public:
  using ForwardingLoss::Order;
  explicit Forwarded(LossPointer base, Order order = Order::same) : ForwardingLoss(order), base_(std::move(base)) {}

 private:
  [[nodiscard]] const Loss& base() const override { return *base_; }
  LossPointer base_;
};

std::vector<LossPointer> losses_of_every_kind() {
  const Interval half = Interval::exactly(0.5), one = Interval::exactly(1);
  const LossPointer laplace = std::make_shared<LaplaceLoss>(one), gaussian = gaussian_loss(one);
  const LossPointer lopsided = pair_loss({Interval::exactly(0.75), Interval::exactly(0.25)}, {half, half});
  return {laplace,
          gaussian,
          lopsided,
          subsampled_gaussian(one, half),
          std::make_shared<PoissonLoss>(laplace, half),
          std::make_shared<SampledLoss>(gaussian, half),
          discrete_gaussian(one, 1),
          zcdp_bound(half),
          compose_exactly({{lopsided, 3}}, {})};
}

/// Everything except the interfaces, which the forwarding loss implements itself.
void expect_same_data(const Capabilities& one, const Capabilities& other) {
  EXPECT_EQ(one.atoms, other.atoms);
  EXPECT_EQ(one.transform, other.transform);
  EXPECT_EQ(one.bound_shape, other.bound_shape);
  EXPECT_EQ(one.pair_and_bound, other.pair_and_bound);
  EXPECT_EQ(one.renyi_bound, other.renyi_bound);
  EXPECT_EQ(one.laplace_shape, other.laplace_shape);
  EXPECT_EQ(one.corners.data(), other.corners.data());
  EXPECT_EQ(one.corners.size(), other.corners.size());
  EXPECT_EQ(one.minimum_of.data(), other.minimum_of.data());
  EXPECT_EQ(one.gaussian_mu, other.gaussian_mu);
  EXPECT_EQ(one.laplace_epsilon, other.laplace_epsilon);
  EXPECT_EQ(one.lattice.has_value(), other.lattice.has_value());
  EXPECT_EQ(one.largest_finite_loss, other.largest_finite_loss);
  EXPECT_EQ(one.last_guarantee, other.last_guarantee);
  EXPECT_EQ(one.cost, other.cost);
  EXPECT_EQ(one.is_pair, other.is_pair);
  EXPECT_EQ(one.atomless, other.atomless);
  EXPECT_EQ(one.keeps_readings, other.keeps_readings);
  EXPECT_EQ(one.closed_forms == nullptr, other.closed_forms == nullptr);
  EXPECT_EQ(one.break_points == nullptr, other.break_points == nullptr);
  EXPECT_EQ(one.evaluable == nullptr, other.evaluable == nullptr);
}

void expect_same_answers(const Loss& one, Direction direction, const Loss& other, Direction asked) {
  for (const double epsilon : {-0.4, 0.0, 0.3, 2.0}) {
    const Interval point = Interval::exactly(epsilon);
    EXPECT_EQ(one.delta(direction, point), other.delta(asked, point));
    EXPECT_EQ(one.log_delta(direction, point), other.log_delta(asked, point));
    EXPECT_EQ(one.rough_delta(direction, epsilon), other.rough_delta(asked, epsilon));
    EXPECT_EQ(one.test_at(direction, epsilon).has_value(), other.test_at(asked, epsilon).has_value());
  }
  EXPECT_EQ(one.closed_epsilon(direction, Interval::exactly(0.01)), other.closed_epsilon(asked, Interval::exactly(0.01)));
  EXPECT_EQ(one.closed_beta(direction, Interval::exactly(0.1)), other.closed_beta(asked, Interval::exactly(0.1)));
  EXPECT_EQ(one.closed_mu(), other.closed_mu());
  EXPECT_EQ(one.break_points(direction, ParameterEnd::better), other.break_points(asked, ParameterEnd::better));
  EXPECT_EQ(one.guarantees(direction).has_value(), other.guarantees(asked).has_value());
  EXPECT_EQ(one.infinite_mass(direction), other.infinite_mass(asked));
  const auto found = evaluations_of(one, direction, 0.3), expected = evaluations_of(other, asked, 0.3);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].direction, direction);
    EXPECT_EQ(found[i].theorem, expected[i].theorem);
    EXPECT_EQ(found[i].log_delta, expected[i].log_delta);
    EXPECT_EQ(found[i].errors, expected[i].errors);
  }
}

TEST(ForwardingLoss, PassesEverythingOn) {
  for (const LossPointer& base : losses_of_every_kind()) {
    const Forwarded forwarded(base);
    for (const Direction direction : {Direction::remove, Direction::add}) {
      expect_same_data(forwarded.capabilities(direction), base->capabilities(direction));
      EXPECT_EQ(forwarded.capabilities(direction).sampled.has_value(), base->capabilities(direction).sampled.has_value());
      expect_same_answers(forwarded, direction, *base, direction);
    }
    EXPECT_EQ(forwarded.symmetric(), base->symmetric());
    EXPECT_EQ(forwarded.key(), base->key());
    EXPECT_EQ(forwarded.tail().limit, base->tail().limit);
  }
}

TEST(ForwardingLoss, SwappedItAnswersForTheOtherDirection) {
  for (const LossPointer& base : losses_of_every_kind()) {
    const Forwarded swapped(base, Forwarded::Order::swapped);
    EXPECT_TRUE(base->key().empty() || swapped.key() != base->key());  // equal keys are merged as one distribution
    for (const Direction direction : {Direction::remove, Direction::add}) {
      expect_same_data(swapped.capabilities(direction), base->capabilities(opposite(direction)));
      EXPECT_FALSE(swapped.capabilities(direction).sampled);
      expect_same_answers(swapped, direction, *base, opposite(direction));
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail
