// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/transform.h"

namespace tradeoff {

/// The loss of Laplace noise, whole or truncated, given that it is finite: atoms at +b and -b and a density proportional to exp(l/2)
/// between them. The law under Q is its mirror image, so the atom at -b is exp(-b) times that at +b, and both directions agree.
class LaplaceTransform final : public Transform {
 public:
  /// `largest` is b > 0, `atom` the mass at +b, `density` the factor of exp(l/2), both given a finite loss; `infinite` the mass of infinite
  /// losses.
  LaplaceTransform(Interval largest, Interval atom, Interval density, Interval infinite)
      : largest_(largest), atom_(atom), density_(density), infinite_(infinite) {}

  [[nodiscard]] Interval infinite_mass() const override { return infinite_; }
  [[nodiscard]] double largest_loss() const override { return largest_.hi; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override;

  [[nodiscard]] Interval largest() const { return largest_; }
  [[nodiscard]] Interval atom() const { return atom_; }
  [[nodiscard]] Interval density() const { return density_; }

 private:
  Interval largest_;
  Interval atom_;
  Interval density_;
  Interval infinite_;
};

/// P(L = e0) = 1/2, P(L = -e0) = exp(-e0)/2, a density between.
[[nodiscard]] LaplaceTransform laplace_transform(Interval epsilon0);
/// Laplace noise of scale 1 cut to [-reach, reach], shifted by epsilon0 < 2 reach.
[[nodiscard]] LaplaceTransform truncated_laplace_transform(Interval epsilon0, Interval reach);

}  // namespace tradeoff
