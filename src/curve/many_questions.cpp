// SPDX-License-Identifier: Apache-2.0
#include "curve/many_questions.h"

#include "mechanism/bracketed.h"

namespace tradeoff {

LossPointer for_many_readings(const Curve& curve) {
  return curve.loss()->cost() == Cost::engine ? bracketed(curve.loss(), budget_of_plan) : curve.loss();
}

Curve for_many_questions(const Curve& curve) { return {for_many_readings(curve), curve.neighbours(), curve.tolerance()}; }

}  // namespace tradeoff
