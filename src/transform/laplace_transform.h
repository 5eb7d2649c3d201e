// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/capabilities.h"
#include "loss/transform.h"

namespace tradeoff::detail {

/// The loss of Laplace noise, whole or truncated, conditional on being finite: atoms at +b and -b and a density proportional to exp(l/2)
/// between them. The distribution under Q is its mirror image, so the atom at -b is exp(-b) times that at +b, and both directions agree.
class LaplaceTransform final : public Transform {
 public:
  explicit LaplaceTransform(const LaplaceShape& shape) : shape_(shape) {}

  [[nodiscard]] const LaplaceShape& shape() const { return shape_; }
  [[nodiscard]] Interval infinite_mass() const override { return shape_.infinite; }
  [[nodiscard]] double largest_loss() const override { return shape_.largest.hi; }
  [[nodiscard]] std::vector<Atom> atoms() const override;
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override;

 private:
  LaplaceShape shape_;
};

/// P(L = e0) = 1/2, P(L = -e0) = exp(-e0)/2, a density between.
[[nodiscard]] LaplaceTransform laplace_transform(Interval epsilon0);
/// Laplace noise of scale 1 cut to [-reach, reach], shifted by epsilon0 < 2 reach.
[[nodiscard]] LaplaceTransform truncated_laplace_transform(Interval epsilon0, Interval reach);

}  // namespace tradeoff::detail
