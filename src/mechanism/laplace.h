// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "transform/laplace_transform.h"

namespace tradeoff {

/// Laplace noise; epsilon0 = sensitivity / scale is the largest loss. The loss is +epsilon0 with probability 1/2,
/// -epsilon0 with probability exp(-epsilon0)/2, and has density exp((l - epsilon0)/2)/4 in between.
class LaplaceLoss final : public Loss {
 public:
  /// `origin`: what makes of another mechanism one that is as private as Laplace noise.
  explicit LaplaceLoss(Interval epsilon0, Citations origin = {})
      : epsilon0_(epsilon0), transform_(laplace_transform(epsilon0)), origin_(std::move(origin)) {}
  [[nodiscard]] Interval epsilon0() const { return epsilon0_; }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return pure_tail({epsilon0_, epsilon0_}); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override;
  [[nodiscard]] std::optional<Interval> closed_mu() const override;
  [[nodiscard]] std::vector<double> corners(Direction) const override { return {-epsilon0_.lo, epsilon0_.lo}; }
  [[nodiscard]] const Transform* transform(Direction) const override { return &transform_; }
  [[nodiscard]] std::optional<BreakPoints> break_points(Direction, ParameterEnd end) const override {
    return laplace_break_points(end == ParameterEnd::worse ? epsilon0_.hi : epsilon0_.lo);
  }
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  Interval epsilon0_;
  LaplaceTransform transform_;
  Citations origin_;
};

}  // namespace tradeoff
