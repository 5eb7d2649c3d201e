// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/atoms.h"
#include "loss/loss.h"
#include "loss/transform.h"

namespace tradeoff::detail {

/// The base run on a Poisson sample: every record is taken with probability `rate`, independently. Add-remove neighbours.
/// remove: P = (1 - rate) B + rate A against Q = B, where (A, B) is the base pair; add is the same pair swapped.
class PoissonLoss final : public Loss {
 public:
  PoissonLoss(LossPointer base, Interval rate);

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  [[nodiscard]] Tail tail() const override;
  /// The distribution of the sampled loss, if that of the base is finite, and the transform of Laplace noise, whole or truncated. For a
  /// Gaussian base see subsampled_gaussian.
  [[nodiscard]] Capabilities capabilities(Direction direction) const override;
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  void find_corners();

  LossPointer base_;
  Interval rate_;
  std::optional<Atoms> remove_;
  std::optional<Atoms> add_;
  std::unique_ptr<const Transform> remove_transform_;
  std::unique_ptr<const Transform> add_transform_;
  std::vector<double> remove_corners_;
  std::vector<double> add_corners_;
};

/// The base run on a sample of fixed size without replacement: the operator C_p of f-DP. Replace-one neighbours. The base must be
/// symmetric; the result is symmetric.
class SampledLoss final : public Loss, public BreakPoints {
 public:
  SampledLoss(LossPointer base, Interval rate);
  /// For another theorem by which the curve is that of the operator C_p.
  SampledLoss(LossPointer base, Interval rate, Citation theorem);

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  [[nodiscard]] Tail tail() const override;
  /// The distribution of the sampled loss, if that of the base is finite; the transform of a Gaussian, or of Laplace noise, whole or
  /// truncated.
  [[nodiscard]] Capabilities capabilities(Direction direction) const override;
  /// For a Gaussian base.
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction direction, ParameterEnd end) const override;
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  LossPointer base_;
  Interval rate_;
  std::optional<Atoms> atoms_;
  std::unique_ptr<const Transform> transform_;
  std::vector<double> corners_;
  std::optional<LossLattice> lattice_;
  Citation theorem_;
};

/// The larger of both directions at every epsilon >= 0, and its mirror below 0: the symmetric pair that replaces a loss that is not
/// symmetric in a plan under replace-one neighbours.
class SymmetrizedLoss final : public Loss {
 public:
  explicit SymmetrizedLoss(LossPointer base) : base_(std::move(base)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  /// Not passed on: the larger of two profiles may have larger moments than either.
  [[nodiscard]] Tail tail() const override {
    Tail tail = base_->tail();
    tail.moment_mu = Tail::nothing;
    tail.moments = nullptr;
    tail.largest = {tail.largest.worse(), tail.largest.worse()};
    return tail;
  }
  [[nodiscard]] std::string key() const override;
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.cost = base_->cost()}; }
  void cite() const override;

 private:
  LossPointer base_;
};

}  // namespace tradeoff::detail
