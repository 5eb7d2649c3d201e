// SPDX-License-Identifier: Apache-2.0
#include "curve/cached_profile.h"

#include "curve/curve_state.h"
#include "loss/budgeted_profile.h"

namespace tradeoff::detail {

LossPointer cached_loss(const Curve& curve) {
  return loss_of(curve)->cost() == Cost::engine ? budgeted(loss_of(curve), budget_of_plan) : loss_of(curve);
}

Curve cached_curve(const Curve& curve) {
  return curve_from(cached_loss(curve), curve.neighbours(), curve.tolerance(), {}, curve.pure_epsilon());
}

}  // namespace tradeoff::detail
