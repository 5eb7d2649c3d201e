// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mechanism/loss.h"

namespace tradeoff {

/// The same composition by several engines, best first. A question goes to the next engine only while the answer is wider than asked;
/// every answer is valid, so they are intersected. Null entries are left out. `tail` is what is known of the composition beside.
[[nodiscard]] LossPointer layered_loss(std::vector<LossPointer> paths, Tail tail, Tolerance tolerance);

}  // namespace tradeoff
