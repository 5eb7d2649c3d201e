// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The same composition by several engines, best first. A question goes to the next engine only while the answer is wider than requested;
/// every answer is valid, so they are intersected. Null entries are left out. `tail` returns the tail of the composition; it is called at
/// most once. `part` is the mu of its Gaussian part, if it has one.
[[nodiscard]] LossPointer fallback_chain(std::vector<LossPointer> paths, std::function<Tail()> tail, Tolerance tolerance,
                                         std::optional<Interval> part = std::nullopt);

}  // namespace tradeoff::detail
