// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "noise/secret.h"

namespace tradeoff::noise {

__extension__ using Wide = unsigned __int128;

/// A non-negative integer of any size. Only what the slow path needs, in the plainest form: it runs once in billions of draws.
class Natural {
 public:
  Natural() = default;
  Natural(std::uint64_t value) { assign(value, 0); }  // NOLINT: numbers in formulas
  Natural(std::uint64_t low, std::uint64_t high) { assign(low, high); }

  [[nodiscard]] bool is_zero() const { return limbs_.empty(); }
  /// Floor of the logarithm to base 2, plus 1; 0 for zero.
  [[nodiscard]] std::size_t bit_count() const;
  /// The value modulo 2^64, and whether that is all of it.
  [[nodiscard]] std::uint64_t low_word() const { return limbs_.empty() ? 0 : limbs_.front(); }
  [[nodiscard]] bool fits_word() const { return limbs_.size() <= 1; }

  friend Natural operator+(const Natural& a, const Natural& b);
  /// a - b, for a >= b.
  friend Natural operator-(const Natural& a, const Natural& b);
  friend Natural operator*(const Natural& a, const Natural& b);
  /// Floor of a / b, b > 0.
  friend Natural operator/(const Natural& a, std::uint64_t b);
  friend Natural operator<<(const Natural& a, std::size_t bits);
  friend Natural operator>>(const Natural& a, std::size_t bits);
  friend std::strong_ordering operator<=>(const Natural& a, const Natural& b);
  friend bool operator==(const Natural& a, const Natural& b) { return a.limbs_ == b.limbs_; }

 private:
  void assign(std::uint64_t low, std::uint64_t high);
  void trim();
  SecretVector<std::uint64_t> limbs_;  // low first, no zero on top
};

}  // namespace tradeoff::noise
