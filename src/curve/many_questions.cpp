// SPDX-License-Identifier: Apache-2.0
#include "curve/many_questions.h"

#include "mechanism/bracketed.h"

namespace tradeoff {

LossPointer for_many_readings(const Curve& curve) {
  const bool composed = curve.method() == "contour" || curve.method() == "lattice";
  constexpr double unhurried = 2.5;  // there is one such loss to a question
  return composed ? bracketed(curve.loss(), unhurried) : curve.loss();
}

Curve for_many_questions(const Curve& curve) {
  return {for_many_readings(curve), curve.neighbours(), curve.method(), curve.steps(), curve.tolerance()};
}

}  // namespace tradeoff
