// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Removes from `parts` those that reveal either everything or nothing (total-variation guarantees dp(0, delta)). Returns the probability
/// that at least one of them reveals everything.
[[nodiscard]] Interval split_off_disclosure(Parts& parts);

/// The composition of the base with a mechanism that reveals everything with the given probability and nothing otherwise.
[[nodiscard]] LossPointer disclosure_loss(LossPointer base, Interval probability);

}  // namespace tradeoff::detail
