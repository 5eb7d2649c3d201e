// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/processor.h"
#include "train/examples.h"

namespace tradeoff::detail::train {

/// Multiplies each row of `left` by `weights`. Every entry is the same sequence of single-precision operations for any position of its row,
/// any other rows, and any instruction set: the contribution of a record must not depend on its batch. [private-step]
[[nodiscard]] Floats multiply_rows(const GridMatrix& left, const Eigen::Map<const Floats>& weights,
                                   noise::Level level = noise::best_level());
[[nodiscard]] Floats multiply_rows(const Floats& left, const Floats& weights, noise::Level level = noise::best_level());

/// tanh to about four digits, entry by entry; NaN stays NaN.
void apply_tanh(Floats& values, noise::Level level = noise::best_level());

}  // namespace tradeoff::detail::train
