// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <limits>

namespace tradeoff {

/// A closed interval that is proved to contain the true value, rounding included.
/// Invariant: lo <= hi, never NaN; an end may be infinite. Users read intervals; the arithmetic on them is private.
struct Interval {
  double lo = 0;
  double hi = 0;

  [[nodiscard]] static constexpr Interval exactly(double value) { return {value, value}; }
  /// A whole number. Beyond 2^53, where not every whole number is a double, the neighbouring doubles are the ends.
  template <std::integral Whole>
  [[nodiscard]] static constexpr Interval exactly(Whole value) {
    const auto near = static_cast<double>(value);
    if (-0x1p53 < near && near < 0x1p53) return {near, near};
    const double step = (near < 0 ? -near : near) * 0x1p-52;
    return {near - step, near + step};
  }
  /// Every real number: the answer of a computation that proved nothing.
  [[nodiscard]] static constexpr Interval whole() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }

  [[nodiscard]] constexpr bool contains(double value) const { return lo <= value && value <= hi; }
  [[nodiscard]] constexpr double width() const { return lo == hi ? 0 : hi - lo; }

  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace tradeoff
