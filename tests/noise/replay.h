// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "noise/words.h"

namespace tradeoff::detail::test {

/// Returns the given words, then a fixed sequence (splitmix64). For tests only; the library cannot use it.
class ReplayForTests final : public noise::WordStream {
 public:
  explicit ReplayForTests(std::uint64_t seed) : state_(seed) {}
  explicit ReplayForTests(std::vector<std::uint64_t> words, std::uint64_t seed = 0) : given_(std::move(words)), state_(seed) {}
  void fill(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) word = used_ < given_.size() ? given_[used_++] : following();
  }
  [[nodiscard]] std::uint64_t following() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  std::vector<std::uint64_t> given_;
  std::size_t used_ = 0;
  std::uint64_t state_;
};

/// No more bits: thrown in a complete enumeration if its few bits do not decide.
struct OutOfBits : std::runtime_error {
  OutOfBits() : std::runtime_error("out of bits") {}
};
class EmptyStream final : public noise::WordStream {
 public:
  void fill(std::span<std::uint64_t>) override { throw OutOfBits(); }
};

}  // namespace tradeoff::detail::test
