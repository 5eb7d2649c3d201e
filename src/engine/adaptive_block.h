// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// [adaptive-block] Replaces all uses of one adaptive mechanism by one pair: those whose block gains most. Uses of mechanisms that join it
/// are in the same block. Every other part enters by its own pair, once for each use. Parts without adaptive mechanisms stay as they are.
[[nodiscard]] Parts with_one_block(Parts parts);

/// Whether both lists certainly have the same pairs once the block is formed.
[[nodiscard]] bool equal_with_block(const Parts& one, const Parts& other);

}  // namespace tradeoff::detail
