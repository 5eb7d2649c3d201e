// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "noise/processor.h"

namespace tradeoff::detail::noise {

/// Number of 64-byte blocks computed at a time: one vector of 16 lanes.
inline constexpr std::size_t chacha_lanes = 16;
inline constexpr std::size_t chacha_words = 16 * chacha_lanes;  ///< 32-bit words of one batch

/// ChaCha20 (RFC 8439) with a zero nonce: blocks counter .. counter + 15. Word i of block b is at 16 i + b: the lanes stay interleaved, a
/// fixed permutation of the standard key stream.
void chacha20(const std::array<std::uint32_t, 8>& key, std::uint32_t counter, std::span<std::uint32_t, chacha_words> out,
              Level level = best_level());

}  // namespace tradeoff::detail::noise
