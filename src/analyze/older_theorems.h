// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// A composition that is never reported worse than by an older theorem. If an answer of `composed` is wider than requested, it is
/// intersected with the bounds of Renyi accounting, of the tails, and of the composition of one (epsilon, delta), or one mu with a slack,
/// per part. `alone` are the same parts as they are answered alone; their mu is measured. [older-theorems]
[[nodiscard]] LossPointer never_worse(LossPointer composed, Parts parts, Tolerance tolerance, Parts alone = {});

/// The same for parts of which some state bounds on divergences. The sum of the divergences may be better than the composition of the pairs
/// that the bounds imply, so the profile is the smaller of the two. It is not the profile of a pair. `alone` are the parts before their
/// divergences were added; their mu is asked too. [older-theorems]
[[nodiscard]] LossPointer smaller_of_pair_and_divergences(LossPointer composed, Parts parts, Parts alone, Tolerance tolerance);

/// The sum of the divergences that were stated of each of these parts: the smallest of the bounds that it implies, and of the mu to which
/// those of the parts compose. It is not the profile of a pair. [older-theorems]
[[nodiscard]] LossPointer smallest_of_stated(LossPointer sum, Parts alone, Tolerance tolerance);

}  // namespace tradeoff::detail
