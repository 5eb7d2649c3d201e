// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mechanism/profile_nodes.h"

// The bits of a sparse vector, given the noise of its threshold: an opponent asks queries until so many answers were "above". A query moves
// by at most `shift`, in units of its noise, and "above" is never less likely with the record. [sparse-vector]
namespace tradeoff::detail {

/// Upper bounds on the value of the game for Laplace noise and any number of queries; positives >= 1, shift > 0. The grid has at most
/// `most_steps` steps in one shift.
[[nodiscard]] ProfileGrid laplace_game(double shift, std::uint64_t positives, std::int64_t most_steps);
/// The same for Gaussian noise and so many queries. [sparse-vector-gaussian]
[[nodiscard]] ProfileGrid gaussian_game(double shift, std::uint64_t positives, std::uint64_t queries);

}  // namespace tradeoff::detail
