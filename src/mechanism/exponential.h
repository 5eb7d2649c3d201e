// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "plan/vocabulary.h"
#include "transform/laplace_transform.h"

namespace tradeoff::detail {

/// The pair that dominates every mechanism whose losses lie in an interval of length `range`, whatever the neighbours: the exponential
/// mechanism. It is that of a logistic distribution shifted by `range`. The loss has the density e^((l - range)/2) / (2 (1 - e^-range)) on
/// [-range, range]. [bounded-range-profile]
class BoundedRangeLoss final : public Loss, public ClosedForms, public BreakPoints {
 public:
  explicit BoundedRangeLoss(Interval range, Citations origin = {});

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return pure_tail({range_, range_}); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override;
  [[nodiscard]] Capabilities capabilities(Direction) const override;
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction, ParameterEnd end) const override;
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  Interval range_;
  LaplaceTransform transform_;
  Citations origin_;
};

/// One step of bounded range in a plan: equal steps form a block. `origin` is the theorem by which the mechanism has this range.
[[nodiscard]] LossPointer bounded_range_step(Interval range, const WordContext& context, const Citations& origin = {});

}  // namespace tradeoff::detail
