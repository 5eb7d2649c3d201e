// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mechanism/loss.h"

namespace tradeoff {

/// The base run on `draws` records drawn with replacement from `of`. Replace-one neighbours. Needs the profiles of the base for groups of
/// every size up to `draws`: known for Gaussian and Laplace noise and for anything pure; UnsupportedError otherwise.
/// [replacement-subsampling]
[[nodiscard]] LossPointer sample_with_replacement(const LossPointer& base, std::uint64_t draws, std::uint64_t of);

}  // namespace tradeoff
