// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The base run on `draws` records drawn with replacement from `of`. Replace-one neighbours. It uses the profiles of the base for groups of
/// every size up to `draws`: closed forms for Gaussian and Laplace noise, exact for finite distributions, iterated otherwise. Throws
/// TooLargeError for many draws of a mechanism that is neither pure DP nor Gaussian-DP. [replacement-subsampling]
[[nodiscard]] LossPointer sample_with_replacement(LossPointer base, std::uint64_t draws, std::uint64_t of);

}  // namespace tradeoff::detail
