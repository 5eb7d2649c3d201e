// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tradeoff::detail::noise {

/// Larger sums are refused, so that every released number is exactly a double.
inline constexpr std::int64_t largest_steps = std::int64_t{1} << 53;

/// The only code that adds noise to data: the same machine instructions for all values. Returns false if some sum is too large.
[[nodiscard]] inline bool add_noise(std::span<const std::int64_t> values, std::span<const std::int64_t> noise,
                                    std::span<std::int64_t> sums) {
  std::uint64_t beyond = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<std::uint64_t>(values[i]), added = static_cast<std::uint64_t>(noise[i]), sum = value + added;
    beyond |= (sum + static_cast<std::uint64_t>(largest_steps)) & ~(2 * static_cast<std::uint64_t>(largest_steps) - 1);
    beyond |= ((value ^ sum) & (added ^ sum)) >> 63;  // the sum itself overflowed
    sums[i] = static_cast<std::int64_t>(sum);
  }
  return beyond == 0;
}

}  // namespace tradeoff::detail::noise
