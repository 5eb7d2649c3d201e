// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

// Clears memory that contained randomness or noise before it is freed.
namespace tradeoff::detail::noise {

/// Overwrites with zeros; the empty assembly keeps the compiler from removing the store.
inline void wipe(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(memory, 0, bytes);
  __asm__ volatile("" : : "r"(memory) : "memory");
}

template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}  // NOLINT: allocators convert

  [[nodiscard]] T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) {
    wipe(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  friend bool operator==(const WipingAllocator&, const WipingAllocator&) { return true; }
};

template <class T>
using SecretVector = std::vector<T, WipingAllocator<T>>;

}  // namespace tradeoff::detail::noise
