// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "noise/coin.h"
#include "noise/sampler.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::noise {

/// How the keys of a table are released: bounds on what one user contributes, then a noisy count above a threshold, or a coin.
/// [key-release]
struct KeyInstruction {
  std::uint64_t partitions = 1;
  std::uint64_t contribution = 1;
  std::shared_ptr<const Sampler> noise;  ///< of every count; null if only keys are released
  std::int64_t above = 0;                ///< a noisy count of at least this is released
  std::vector<Coin> keep;                ///< for 1 user, 2 users, ...; the last for all more
  Plan charged;                          ///< what the accountant charges: exact parameters
};

/// Whether the plan releases keys.
[[nodiscard]] bool releases_keys(const Plan& plan);

/// Throws UnsupportedError for a plan that is more than one line `threshold` or `partition_selection`, and for noise that is not on
/// integers.
[[nodiscard]] KeyInstruction make_key_instruction(const Plan& plan);

/// The mechanism as it is drawn. Empty if only keys are released; then the charged plan states the probabilities.
[[nodiscard]] std::vector<DrawnMechanism> describe(const KeyInstruction& instruction);

/// Bounds the contributions, then draws. The keys are in the order of their bytes. [key-release]
[[nodiscard]] std::vector<ReleasedKey> carry_out(const KeyInstruction& instruction, std::span<const KeyRow> rows, WordStream& words);

}  // namespace tradeoff::detail::noise
