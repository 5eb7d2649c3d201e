// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "loss/loss.h"
#include "transform/laplace_transform.h"

namespace tradeoff::detail {

/// Laplace noise restricted to [-bound, bound] and renormalised. In units of the scale: epsilon0 = sensitivity / scale, reach = bound /
/// scale. It is never pure DP: where the supports of the two outputs do not overlap, the loss is infinite.
class TruncatedLaplaceLoss final : public Loss, public BreakPoints {
 public:
  TruncatedLaplaceLoss(Interval epsilon0, Interval reach);
  [[nodiscard]] Interval epsilon0() const { return epsilon0_; }
  [[nodiscard]] Interval reach() const { return reach_; }
  /// The largest finite loss: epsilon0 if bound >= sensitivity, smaller if the supports overlap less, 0 if they do not overlap.
  [[nodiscard]] Interval largest_loss() const { return largest_loss_; }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    // Empty if it is not known whether the bound is above the sensitivity, or if all losses are infinite.
    const bool known = reach_.lo >= epsilon0_.hi || (reach_.hi < epsilon0_.lo && largest_loss_.lo > 0);
    return {.transform = known ? &transform_ : nullptr,
            .break_points = this,
            .laplace_shape = known ? &transform_.shape() : nullptr,
            .corners = corners_,
            .largest_finite_loss = largest_loss_};
  }
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction, ParameterEnd end) const override {
    if (!(reach_.lo >= epsilon0_.hi)) return std::nullopt;  // the supports overlap too little for this expansion
    return truncated_laplace_break_points(end == ParameterEnd::worse ? epsilon0_.hi : epsilon0_.lo, reach_);
  }
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  Interval epsilon0_;
  Interval reach_;
  Interval largest_loss_;
  LaplaceTransform transform_;
  std::array<double, 2> corners_;
};

}  // namespace tradeoff::detail
