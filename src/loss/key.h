// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "numeric/conversions.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// The key of a loss: its family and the bits of its parameters, with `=` before a number that is known exactly and `~` before the two ends
/// of an interval. Losses with equal keys share one enclosure of their distribution, so they are merged before any computation. Their
/// distributions are certainly equal only if the key is exact, because two decimals may lie between the same two doubles.
[[nodiscard]] inline std::string make_key(std::string_view family, std::initializer_list<Interval> parameters) {
  std::string key(family);
  const auto append = [&key](char mark, double value) {
    key += mark;
    const auto bits = numeric::bit_cast<std::uint64_t>(value);
    for (int shift = 60; shift >= 0; shift -= 4) key += "0123456789abcdef"[(bits >> shift) & 15];
  };
  for (const Interval& parameter : parameters) {
    if (parameter.lo == parameter.hi) {
      append('=', parameter.lo);
    } else {
      append('~', parameter.lo);
      append('~', parameter.hi);
    }
  }
  return key;
}

/// Whether losses with this non-empty key certainly have equal distributions.
[[nodiscard]] inline bool is_exact_key(std::string_view key) { return key.find('~') == std::string_view::npos; }

}  // namespace tradeoff::detail
