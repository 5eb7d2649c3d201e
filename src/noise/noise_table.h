// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

// The certified tables of the two quantile functions. [certified-quantile-table]
namespace tradeoff::detail::noise {

/// The coefficients of one row, the constant first: one cache line.
using TableRow = std::array<std::uint64_t, 8>;

namespace table {
#include "noise/noise_table.inc"
}  // namespace table

/// How a row gives z = (c_0 + r(t) >> guard) * 2^-scale.
struct NormalTable {
  static constexpr int scale = 61;
  static constexpr int guard = 9;
  static constexpr int octaves = 40;
};
struct ExponentialTable {
  static constexpr int scale = 63;
  static constexpr int guard = 6;
  static constexpr int octaves = 56;
};

}  // namespace tradeoff::detail::noise
