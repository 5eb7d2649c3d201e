// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mechanism/loss.h"

// Losses made of other losses by the algebra of trade-off functions. [curve-algebra]
namespace tradeoff {

/// The swapped pair.
[[nodiscard]] LossPointer inverse_loss(LossPointer base);
/// The symmetric pair below both orders; of a finite law a finite one.
[[nodiscard]] LossPointer symmetric_loss(LossPointer base);
/// One mechanism with several guarantees, each a pair and meant by the symmetric curve below both its orders; at least one. The larger
/// trade-off function, so the hull of the smaller profile.
[[nodiscard]] LossPointer strongest_loss(std::vector<LossPointer> losses);
/// One of several mechanisms, each a pair, it is not known which; at least one. The larger profile.
[[nodiscard]] LossPointer weakest_loss(std::vector<LossPointer> losses);

}  // namespace tradeoff
