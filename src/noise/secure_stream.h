// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "noise/chacha.h"
#include "noise/platform.h"
#include "noise/words.h"

namespace tradeoff::detail::noise {

/// Fills the bytes with fresh entropy or throws RandomnessError.
using Entropy = void (*)(std::span<std::byte> bytes);

/// ChaCha20 with a key from `entropy`, and fast key erasure: each batch of output starts with the next key, so that the memory does not
/// reveal earlier output. A new key is read from `entropy` after 2^20 blocks and in a child after fork. Words that were returned are wiped
/// here. A failure throws and leaves no usable word. Not thread-safe.
class ChaChaStream : public WordStream {
 public:
  explicit ChaChaStream(Entropy entropy, Level level = best_level());
  ~ChaChaStream() override;
  void fill(std::span<std::uint64_t> words) override;

 private:
  static constexpr std::size_t buffered = 4 * chacha_words / 2;  // 4 KiB: fits in the first-level cache
  struct State {
    std::array<std::uint32_t, 8> key;
    std::array<std::uint64_t, buffered> words;
    std::size_t position;
    std::uint64_t blocks;
    std::int64_t process;
    bool seeded;  // false in zeroed memory, which a child sees after fork
  };
  struct Unmap {
    void operator()(State* state) const;
  };
  void rekey();
  void refill();

  Entropy entropy_;
  Level level_;
  std::unique_ptr<State, Unmap> state_;  // on its own pages, which the system clears in a forked child
};

/// The only source of randomness of releases. [secure-words]
class SecureStream final : public ChaChaStream {
 public:
  SecureStream() : ChaChaStream(system_entropy) {}
};

/// The stream of the calling thread.
[[nodiscard]] SecureStream& thread_stream();

}  // namespace tradeoff::detail::noise
