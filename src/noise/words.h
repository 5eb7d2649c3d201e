// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "noise/secret.h"

namespace tradeoff::detail::noise {

/// Uniform independent 64-bit words: the ideal bits that the proofs of exactness assume. The library has one implementation, SecureStream;
/// the tests have their own. No public function takes a stream as an argument.
class WordStream {
 public:
  WordStream() = default;
  WordStream(const WordStream&) = delete;
  WordStream& operator=(const WordStream&) = delete;
  virtual ~WordStream() = default;

  virtual void fill(std::span<std::uint64_t> words) = 0;

  [[nodiscard]] std::uint64_t next() {
    std::uint64_t word = 0;
    fill({&word, 1});
    return word;
  }
};

/// Returns the words of another stream one by one at low cost; unused words are wiped.
class BufferedStream final : public WordStream {
 public:
  explicit BufferedStream(WordStream& source) : source_(source) {}
  ~BufferedStream() override { wipe(words_.data(), sizeof words_); }
  void fill(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) {
      if (position_ == words_.size()) {
        source_.fill(words_);
        position_ = 0;
      }
      word = std::exchange(words_[position_++], 0);
    }
  }

 private:
  WordStream& source_;
  std::array<std::uint64_t, 256> words_{};
  std::size_t position_ = 256;
};

}  // namespace tradeoff::detail::noise
