// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/natural.h"

// Arithmetic of any precision for the rare draw that the tables cannot decide. It handles only non-negative numbers and positive series, so
// every rounding has one direction: the lower end rounds down, the upper end up. [slow-decision]
namespace tradeoff::detail::noise {

/// A non-negative real number between below * 2^-precision and above * 2^-precision.
struct Enclosure {
  Natural below;
  Natural above;
  std::size_t precision = 0;

  /// numerator / denominator, exactly rounded outward.
  [[nodiscard]] static Enclosure quotient(const Natural& numerator, std::uint64_t denominator, std::size_t precision);
  [[nodiscard]] static Enclosure integer(const Natural& value, std::size_t precision);
};

/// Both operands have the same precision.
[[nodiscard]] Enclosure operator+(const Enclosure& a, const Enclosure& b);
[[nodiscard]] Enclosure operator*(const Enclosure& a, const Enclosure& b);
[[nodiscard]] Enclosure operator*(const Enclosure& a, std::uint64_t b);
[[nodiscard]] Enclosure operator/(const Enclosure& a, std::uint64_t b);
/// 1 - a, for a <= 1.
[[nodiscard]] Enclosure complement(const Enclosure& a);
/// Every number of a lies below every number of b.
[[nodiscard]] bool certainly_less(const Enclosure& a, const Enclosure& b);

[[nodiscard]] Enclosure exponential(const Enclosure& x);
[[nodiscard]] Enclosure pi(std::size_t precision);
/// Sum of z^(2n+1) / (1 * 3 * ... * (2n+1)), which is (Phi(z) - 1/2) / phi(z).
[[nodiscard]] Enclosure normal_series(const Enclosure& z);

}  // namespace tradeoff::detail::noise
