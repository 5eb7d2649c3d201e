// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/part.h"

namespace tradeoff {

/// Everything of a plan run on the same data, and the path that composed it.
struct Composition {
  LossPointer loss;
  std::string method;
};

/// The one decision of the system: which engine composes these parts. Equal parts are merged first.
[[nodiscard]] Composition compose(Parts parts, Tolerance tolerance);

}  // namespace tradeoff
