// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// What secret randomness needs of the operating system: Linux, macOS and the BSDs, Windows.
namespace tradeoff::detail::noise {

/// From the operating system (getrandom, arc4random_buf or BCryptGenRandom); blocks until the system is seeded. Throws RandomnessError.
void system_entropy(std::span<std::byte> bytes);

/// Zeroed pages of their own: not written to a core dump, and cleared in a forked child, as far as the system can do this. Throws
/// bad_alloc.
[[nodiscard]] void* map_secret_pages(std::size_t bytes);
void unmap_secret_pages(void* pages, std::size_t bytes) noexcept;

/// Changes in a forked child; by this it is seen where the system cannot clear pages.
[[nodiscard]] std::int64_t process_id() noexcept;

}  // namespace tradeoff::detail::noise
