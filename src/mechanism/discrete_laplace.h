// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// Noise on the integers with probabilities proportional to exp(-|y| / scale); an integer query of the given l1 sensitivity.
[[nodiscard]] LossPointer discrete_laplace(Interval scale, std::uint64_t sensitivity);

/// The same restricted to {-bound, ..., bound}.
[[nodiscard]] LossPointer truncated_discrete_laplace(Interval scale, std::uint64_t bound, std::uint64_t sensitivity);

}  // namespace tradeoff::detail
