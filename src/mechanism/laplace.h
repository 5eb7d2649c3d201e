// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "loss/loss.h"
#include "transform/laplace_transform.h"

namespace tradeoff::detail {

/// Laplace noise; epsilon0 = sensitivity / scale is the largest loss. The loss is +epsilon0 with probability 1/2,
/// -epsilon0 with probability exp(-epsilon0)/2, and has density exp((l - epsilon0)/2)/4 in between.
class LaplaceLoss final : public Loss, public ClosedForms, public BreakPoints {
 public:
  /// `origin`: the theorem by which another mechanism is as private as Laplace noise.
  explicit LaplaceLoss(Interval epsilon0, Citations origin = {})
      : epsilon0_(epsilon0), transform_(laplace_transform(epsilon0)), corners_{-epsilon0.lo, epsilon0.lo}, origin_(std::move(origin)) {}
  [[nodiscard]] Interval epsilon0() const { return epsilon0_; }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return pure_tail({epsilon0_, epsilon0_}); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override;
  [[nodiscard]] std::optional<Interval> closed_mu() const override;
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.transform = &transform_,
            .break_points = this,
            .closed_forms = this,
            .laplace_shape = &transform_.shape(),
            .corners = corners_,
            .laplace_epsilon = epsilon0_};
  }
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction, ParameterEnd end) const override {
    return laplace_break_points(end == ParameterEnd::worse ? epsilon0_.hi : epsilon0_.lo);
  }
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  Interval epsilon0_;
  LaplaceTransform transform_;
  std::array<double, 2> corners_;
  Citations origin_;
};

}  // namespace tradeoff::detail
