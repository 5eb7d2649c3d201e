// SPDX-License-Identifier: Apache-2.0
#include "curve/cached_profile.h"

#include "loss/budgeted_profile.h"

namespace tradeoff {

LossPointer cached_loss(const Curve& curve) {
  return curve.loss()->cost() == Cost::engine ? budgeted(curve.loss(), budget_of_plan) : curve.loss();
}

Curve cached_curve(const Curve& curve) { return {cached_loss(curve), curve.neighbours(), curve.tolerance()}; }

}  // namespace tradeoff
