// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "loss/loss.h"
#include "tradeoff/guarantee.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// Guarantees of the index of the largest of at most `candidates` >= 3 utilities with standard normal noise, of which any two move by at
/// most `shift` > 0 relative to each other. [noisy-max-gaussian]
[[nodiscard]] std::vector<Guarantee> gaussian_noisy_max(Interval shift, std::uint64_t candidates);

/// A finite pair that such a use shows: whether the index is in a set of half of the candidates, whose utilities move against those of the
/// others, at the best of many distances between the two. Null where the shift is too small for its grid. [noisy-max-gaussian]
[[nodiscard]] LossPointer gaussian_noisy_max_witness(Interval shift, std::uint64_t candidates, const Citations& origin);

}  // namespace tradeoff::detail
