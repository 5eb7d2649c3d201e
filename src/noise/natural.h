// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "noise/secret.h"

namespace tradeoff::detail::noise {

__extension__ using Wide = unsigned __int128;

/// The words of an integer, lowest first, wiped when they are freed. Sizes that nearly every decision needs are stored in the object.
class Limbs {
 public:
  Limbs() = default;
  Limbs(const Limbs&) = default;
  Limbs& operator=(const Limbs&) = default;
  Limbs(Limbs&&) = default;
  Limbs& operator=(Limbs&&) = default;
  ~Limbs() { wipe(near_.data(), sizeof near_); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint64_t* data() { return far_.empty() ? near_.data() : far_.data(); }
  [[nodiscard]] const std::uint64_t* data() const { return far_.empty() ? near_.data() : far_.data(); }
  std::uint64_t& operator[](std::size_t i) { return data()[i]; }
  const std::uint64_t& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] std::uint64_t back() const { return data()[size_ - 1]; }
  void pop_back() { --size_; }
  /// Fills an empty object with that many zeros.
  void make_zeros(std::size_t count) {
    if (count > near_.size()) far_.resize(count);
    size_ = count;
  }

 private:
  std::size_t size_ = 0;
  std::array<std::uint64_t, 12> near_{};
  SecretVector<std::uint64_t> far_;
};

/// A non-negative integer of any size. It supports only the slow path and is not optimised, because that path runs once in billions of
/// draws.
class Natural {
 public:
  Natural() = default;
  Natural(std::uint64_t value) { assign(value, 0); }  // NOLINT: numbers in formulas
  Natural(std::uint64_t low, std::uint64_t high) { assign(low, high); }

  [[nodiscard]] bool is_zero() const { return limbs_.empty(); }
  /// The value modulo 2^64, and whether that is the whole value.
  [[nodiscard]] std::uint64_t low_word() const { return limbs_.empty() ? 0 : limbs_[0]; }
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
  friend bool operator==(const Natural& a, const Natural& b) { return (a <=> b) == 0; }

 private:
  void assign(std::uint64_t low, std::uint64_t high);
  void trim();
  Limbs limbs_;  // the highest limb is not zero
};

}  // namespace tradeoff::detail::noise
