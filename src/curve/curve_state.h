// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "loss/loss.h"
#include "plan/vocabulary.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

struct Composition;  // engine/compose.h

/// The content of a Curve.
struct CurveState {
  LossPointer loss;
  Neighbours neighbours = Neighbours::unstated;
  Tolerance tolerance;
  std::vector<WrittenGuarantee> stated;
  std::optional<Number> largest_loss;              ///< of both directions, if the plan determines it exactly
  std::shared_ptr<const Composition> composition;  ///< the start for `extend`; null for a curve that was not made from a plan

  [[nodiscard]] static const CurveState& of(const Curve& curve) { return *curve.state_; }
  [[nodiscard]] static Curve make(CurveState state) { return Curve(std::make_shared<const CurveState>(std::move(state))); }
};

[[nodiscard]] inline const LossPointer& loss_of(const Curve& curve) { return detail::CurveState::of(curve).loss; }
[[nodiscard]] inline Curve curve_from(LossPointer loss, Neighbours neighbours, Tolerance tolerance,
                                      std::vector<WrittenGuarantee> stated = {}, std::optional<Number> largest_loss = {},
                                      std::shared_ptr<const Composition> composition = {}) {
  return detail::CurveState::make(
      {std::move(loss), neighbours, tolerance, std::move(stated), std::move(largest_loss), std::move(composition)});
}

}  // namespace tradeoff::detail
