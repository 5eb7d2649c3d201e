// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tradeoff/guarantee.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// Guarantees of the index of the largest of at most `candidates` >= 3 utilities with standard normal noise, of which any two move by at
/// most `shift` > 0 relative to each other. [noisy-max-gaussian]
[[nodiscard]] std::vector<Guarantee> gaussian_noisy_max(Interval shift, std::uint64_t candidates);

}  // namespace tradeoff::detail
