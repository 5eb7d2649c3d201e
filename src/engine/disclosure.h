// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff {

/// Splits off the parts that either reveal everything or nothing (total-variation guarantees dp(0, delta)). What is left stays in
/// `parts`; the result is the probability that one of the others reveals everything.
[[nodiscard]] Interval split_off_disclosure(Parts& parts);

/// The composition of the base with a mechanism that reveals everything with the given probability and nothing otherwise.
[[nodiscard]] LossPointer disclosure_loss(LossPointer base, Interval probability);

}  // namespace tradeoff
