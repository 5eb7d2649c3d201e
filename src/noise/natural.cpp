// SPDX-License-Identifier: Apache-2.0
#include "noise/natural.h"

#include <algorithm>

namespace tradeoff::detail::noise {

void Natural::assign(std::uint64_t low, std::uint64_t high) {
  limbs_.make_zeros(2);
  limbs_[0] = low;
  limbs_[1] = high;
  trim();
}

void Natural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

Natural operator+(const Natural& a, const Natural& b) {
  const auto& longer = a.limbs_.size() >= b.limbs_.size() ? a.limbs_ : b.limbs_;
  const auto& shorter = a.limbs_.size() >= b.limbs_.size() ? b.limbs_ : a.limbs_;
  Natural sum;
  sum.limbs_.make_zeros(longer.size() + 1);
  Wide carry = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    carry += longer[i];
    if (i < shorter.size()) carry += shorter[i];
    sum.limbs_[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  sum.limbs_[longer.size()] = static_cast<std::uint64_t>(carry);
  sum.trim();
  return sum;
}

Natural operator-(const Natural& a, const Natural& b) {
  Natural difference = a;
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    const Wide taken = (i < b.limbs_.size() ? static_cast<Wide>(b.limbs_[i]) : 0) + borrow;
    borrow = taken > a.limbs_[i] ? 1 : 0;
    difference.limbs_[i] = a.limbs_[i] - static_cast<std::uint64_t>(taken);
  }
  difference.trim();
  return difference;
}

Natural operator*(const Natural& a, const Natural& b) {
  Natural product;
  product.limbs_.make_zeros(a.limbs_.size() + b.limbs_.size());
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    Wide carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += static_cast<Wide>(a.limbs_[i]) * b.limbs_[j] + product.limbs_[i + j];
      product.limbs_[i + j] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    product.limbs_[i + b.limbs_.size()] = static_cast<std::uint64_t>(carry);
  }
  product.trim();
  return product;
}

Natural operator/(const Natural& a, std::uint64_t b) {
  Natural quotient = a;
  Wide rest = 0;
  for (std::size_t i = a.limbs_.size(); i-- > 0;) {
    rest = (rest << 64) | a.limbs_[i];
    quotient.limbs_[i] = static_cast<std::uint64_t>(rest / b);
    rest %= b;
  }
  quotient.trim();
  return quotient;
}

Natural operator<<(const Natural& a, std::size_t bits) {
  if (a.is_zero()) return a;
  const std::size_t words = bits / 64, rest = bits % 64;
  Natural result;
  result.limbs_.make_zeros(a.limbs_.size() + words + 1);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    const Wide moved = static_cast<Wide>(a.limbs_[i]) << rest;
    result.limbs_[i + words] |= static_cast<std::uint64_t>(moved);
    result.limbs_[i + words + 1] = static_cast<std::uint64_t>(moved >> 64);
  }
  result.trim();
  return result;
}

Natural operator>>(const Natural& a, std::size_t bits) {
  const std::size_t words = bits / 64, rest = bits % 64;
  Natural result;
  if (words >= a.limbs_.size()) return result;
  result.limbs_.make_zeros(a.limbs_.size() - words);
  for (std::size_t i = words; i < a.limbs_.size(); ++i) {
    const Wide pair = (static_cast<Wide>(i + 1 < a.limbs_.size() ? a.limbs_[i + 1] : 0) << 64) | a.limbs_[i];
    result.limbs_[i - words] = static_cast<std::uint64_t>(pair >> rest);
  }
  result.trim();
  return result;
}

std::strong_ordering operator<=>(const Natural& a, const Natural& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() <=> b.limbs_.size();
  for (std::size_t i = a.limbs_.size(); i-- > 0;)
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
  return std::strong_ordering::equal;
}

}  // namespace tradeoff::detail::noise
