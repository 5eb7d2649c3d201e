// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tradeoff/interval.h"

namespace tradeoff {

/// The key of a loss: its family and the bits of its parameters. Equal keys mean equal laws.
[[nodiscard]] inline std::string make_key(std::string_view family, std::initializer_list<Interval> parameters) {
  std::string key(family);
  const auto append = [&key](double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    key.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  };
  for (const Interval& parameter : parameters) {
    append(parameter.lo);
    append(parameter.hi);
  }
  return key;
}

}  // namespace tradeoff
