// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/part.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// The composition of all mechanisms of a plan.
struct Composition {
  LossPointer loss;
  Parts parts{};          ///< the composed parts, equal ones merged
  LossPointer contour{};  ///< the contours among the methods, if any; a longer plan starts from them
  /// The analysed plan, with the rows of its files; null for other compositions. Equal plans have equal distributions.
  std::shared_ptr<const Plan> plan{};
  /// The loss is more than the composition of the parts, so a longer plan must be analysed as a whole. [sampled-group]
  bool from_plan = false;
  /// The same parts with each of the pairs below, for a plan with a mechanism between pairs. [bracketed-pair]
  std::vector<Parts> below{};
};

/// Merges parts that share an enclosure of their distribution; the enclosure holds for each. A plan of a thousand equal lines costs as much
/// as one line.
[[nodiscard]] Parts merge_equal(Parts parts);

/// Chooses the engine that composes these parts. Equal parts are merged first. `shorter` may be the composition of the parts that these
/// begin with. [longer-plan]
[[nodiscard]] Composition compose(Parts parts, Tolerance tolerance, const Composition* shorter = nullptr);

}  // namespace tradeoff::detail
