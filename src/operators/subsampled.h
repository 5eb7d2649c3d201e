// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/atoms.h"
#include "loss/loss.h"
#include "loss/transform.h"

namespace tradeoff {

/// The base run on a Poisson sample: every record is taken with probability `rate`, independently. Add-remove neighbours.
/// remove: P = (1 - rate) B + rate A against Q = B, where (A, B) is the base pair; add is the same pair swapped.
class PoissonLoss final : public Loss {
 public:
  PoissonLoss(LossPointer base, Interval rate);
  [[nodiscard]] const LossPointer& base() const { return base_; }
  [[nodiscard]] Interval rate() const { return rate_; }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  [[nodiscard]] Tail tail() const override;
  /// The law of the sampled loss, if that of the base is finite.
  [[nodiscard]] const Atoms* atoms(Direction direction) const override;
  [[nodiscard]] std::vector<double> corners(Direction direction) const override;
  /// Of Laplace noise, whole or truncated; a Gaussian base is subsampled_gaussian's.
  [[nodiscard]] const Transform* transform(Direction direction) const override {
    return (direction == Direction::add ? add_transform_ : remove_transform_).get();
  }
  [[nodiscard]] std::string key() const override;
  [[nodiscard]] Cost cost() const override { return base_->cost(); }
  void cite() const override;

 private:
  LossPointer base_;
  Interval rate_;
  std::optional<Atoms> remove_;
  std::optional<Atoms> add_;
  std::unique_ptr<const Transform> remove_transform_;
  std::unique_ptr<const Transform> add_transform_;
};

/// The base run on a sample of fixed size without replacement: the operator C_p of f-DP. Replace-one neighbours; the base
/// must be symmetric, and so is the result.
class SampledLoss final : public Loss {
 public:
  SampledLoss(LossPointer base, Interval rate);
  [[nodiscard]] const LossPointer& base() const { return base_; }
  [[nodiscard]] Interval rate() const { return rate_; }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  [[nodiscard]] Tail tail() const override;
  /// The law of the sampled loss, if that of the base is finite.
  [[nodiscard]] const Atoms* atoms(Direction) const override { return atoms_ ? &*atoms_ : nullptr; }
  [[nodiscard]] std::vector<double> corners(Direction) const override;
  /// Of a Gaussian, or of Laplace noise, whole or truncated.
  [[nodiscard]] const Transform* transform(Direction) const override { return transform_.get(); }
  /// Of a Gaussian.
  [[nodiscard]] std::optional<BreakPoints> break_points(Direction direction, ParameterEnd end) const override;
  [[nodiscard]] std::string key() const override;
  [[nodiscard]] Cost cost() const override { return base_->cost(); }
  void cite() const override;

 private:
  LossPointer base_;
  Interval rate_;
  std::optional<Atoms> atoms_;
  std::unique_ptr<const Transform> transform_;
};

/// The worse of both directions at every epsilon >= 0, mirrored: the symmetric pair by which a directed loss enters a
/// plan under replace-one neighbours.
class SymmetrizedLoss final : public Loss {
 public:
  explicit SymmetrizedLoss(LossPointer base) : base_(std::move(base)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override;
  /// The larger of two profiles may have larger moments than either.
  [[nodiscard]] Tail tail() const override {
    Tail tail = base_->tail();
    tail.moment_mu = Tail::nothing;
    tail.largest = {tail.largest.worse(), tail.largest.worse()};
    return tail;
  }
  [[nodiscard]] std::string key() const override;
  [[nodiscard]] Cost cost() const override { return base_->cost(); }
  void cite() const override;

 private:
  LossPointer base_;
};

}  // namespace tradeoff
