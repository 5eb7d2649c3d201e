// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "noise/processor.h"

namespace tradeoff::detail::train {

/// 16-bit integers in rows; `values` has rows * columns of them.
struct IntegerRows {
  const std::int16_t* values;
  std::size_t rows;
  std::size_t columns;
};

/// Adds the sum over rows r of left(r, :)^T right(r, :) to `sums`, a matrix of left.columns x right.columns, exactly. The sum over any
/// `rows_at_once` rows must not exceed 2^31 - 1 in absolute value in any entry. All instruction sets give the same integers.
void add_outer_products(IntegerRows left, IntegerRows right, std::size_t rows_at_once, std::span<std::int64_t> sums,
                        noise::Level level = noise::best_level());

}  // namespace tradeoff::detail::train
