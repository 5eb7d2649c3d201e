// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/part.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// Everything of a plan run on the same data.
struct Composition {
  LossPointer loss;
  Parts parts{};          ///< what was composed, equal ones merged
  LossPointer contour{};  ///< the contours among the paths, if any: a longer plan goes on from them
  /// The plan that was analysed, with the rows of its files; null for anything else. Equal plans have equal laws.
  std::shared_ptr<const Plan> plan{};
};

/// The one decision of the system: which engine composes these parts. Equal parts are merged first.
/// `shorter` may be the composition of parts that these begin with. [longer-plan]
[[nodiscard]] Composition compose(Parts parts, Tolerance tolerance, const Composition* shorter = nullptr);

}  // namespace tradeoff
