// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/part.h"

// Losses made of other losses by the algebra of trade-off functions. [curve-algebra]
namespace tradeoff::detail {

/// The swapped pair.
[[nodiscard]] LossPointer inverse_loss(LossPointer base);
/// The symmetric pair below both orders; finite if the distribution is finite.
[[nodiscard]] LossPointer symmetric_loss(LossPointer base);
/// Prepares steps, or components of a mixture, for composition under these neighbours. If a record may be replaced, one step may see the
/// change in one order and another step in the other order. So if two or more of them are not symmetric, each is replaced by its symmetric
/// pair. [two-directions]
[[nodiscard]] Parts in_either_order(Parts parts, Neighbours neighbours);
/// The same for pairs below, each in its own order. [bracketed-pair]
[[nodiscard]] Parts in_one_order(Parts parts);
/// One mechanism that satisfies several guarantees, at least one. Each is a pair and stands for the symmetric curve below both its orders.
/// The larger trade-off function, so the hull of the smaller profile.
[[nodiscard]] LossPointer strongest_loss(std::vector<LossPointer> losses);
/// One of several mechanisms, at least one, unknown which; each is a pair. The larger profile.
[[nodiscard]] LossPointer weakest_loss(std::vector<LossPointer> losses);

}  // namespace tradeoff::detail
