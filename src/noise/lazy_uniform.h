// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "noise/enclosure.h"
#include "noise/words.h"

namespace tradeoff::detail::noise {

/// A uniform real number in (0,1) of which only the first bits are known; more bits are drawn when a decision needs them. It cannot be
/// copied, because the copy would continue with different bits. [lazy-decision]
class LazyUniform {
 public:
  /// Starts from the `bits` bits of `prefix`, already drawn.
  LazyUniform(std::uint64_t prefix, std::size_t bits, WordStream& more) : prefix_(prefix), bits_(bits), more_(more) {}
  LazyUniform(const LazyUniform&) = delete;
  LazyUniform& operator=(const LazyUniform&) = delete;

  /// Calls `judge(enclosure of the number, bits known)` and draws 64 more bits until it returns a verdict.
  template <class Judge>
  [[nodiscard]] bool decide(Judge judge) {
    for (;;) {
      if (const std::optional<bool> verdict = judge(*this)) return *verdict;
      extend();
    }
  }

  [[nodiscard]] std::size_t bits() const { return bits_; }
  /// All bits so far are 0.
  [[nodiscard]] bool starts_with_zeros() const { return prefix_.is_zero(); }
  /// The cell of numbers that start with these bits; `precision` is at least bits().
  [[nodiscard]] Enclosure cell(std::size_t precision) const {
    return {prefix_ << (precision - bits_), (prefix_ + 1) << (precision - bits_), precision};
  }

 private:
  void extend() {
    prefix_ = (prefix_ << 64) + more_.next();
    bits_ += 64;
  }

  Natural prefix_;
  std::size_t bits_;
  WordStream& more_;
};

}  // namespace tradeoff::detail::noise
