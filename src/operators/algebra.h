// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/part.h"

// Losses made of other losses by the algebra of trade-off functions. [curve-algebra]
namespace tradeoff {

/// The swapped pair.
[[nodiscard]] LossPointer inverse_loss(LossPointer base);
/// The symmetric pair below both orders; of a finite law a finite one.
[[nodiscard]] LossPointer symmetric_loss(LossPointer base);
/// Steps, or components of a mixture, as they stand side by side under these neighbours. Where a record may be replaced, one step may see
/// that in one order and another in the other: if two or more of them are directed, each enters by its symmetric pair. [two-directions]
[[nodiscard]] Parts in_either_order(Parts parts, Neighbours neighbours);
/// One mechanism with several guarantees, each a pair and meant by the symmetric curve below both its orders; at least one. The larger
/// trade-off function, so the hull of the smaller profile.
[[nodiscard]] LossPointer strongest_loss(std::vector<LossPointer> losses);
/// One of several mechanisms, each a pair, it is not known which; at least one. The larger profile.
[[nodiscard]] LossPointer weakest_loss(std::vector<LossPointer> losses);

}  // namespace tradeoff
