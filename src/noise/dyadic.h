// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tradeoff::detail::noise {

/// numerator * 2^-exponent, exactly: the scale of the noise. At most 52 significant bits, so that it is also a double.
struct Dyadic {
  std::uint64_t numerator = 0;
  int exponent = 0;

  /// The least such number that is not below `value`, or the greatest that is not above it. `value` is positive and finite.
  [[nodiscard]] static Dyadic at_least(double value);
  [[nodiscard]] static Dyadic at_most(double value);
  [[nodiscard]] double value() const;
  friend bool operator==(const Dyadic&, const Dyadic&) = default;
};

}  // namespace tradeoff::detail::noise
