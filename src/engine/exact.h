// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/part.h"
#include "mechanism/loss.h"

namespace tradeoff {

/// How many atoms an exact composition would have at most, and how many multiplications it would take; infinite if some part has no
/// finite law. Cheap: nothing is composed.
struct ExactSize {
  double atoms = 0;
  double terms = 0;
  bool fits = false;  ///< within the limits of `compose_exactly`
};
[[nodiscard]] ExactSize exact_size(const Parts& parts);

/// [exact-composition] The law of the sum of the losses of all parts, point by point. Null if some part has no finite law. Throws
/// TooLargeError, before any work, if `exact_size(parts).fits` is false.
[[nodiscard]] LossPointer compose_exactly(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff
