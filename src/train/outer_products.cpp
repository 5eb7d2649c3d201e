// SPDX-License-Identifier: Apache-2.0
#include "train/outer_products.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tradeoff::detail::train {
namespace {

/// One block of rows for one strip of outputs; the sums stay in registers.
template <std::size_t lanes>
TRADEOFF_INLINE void add_strip(IntegerRows left, std::size_t from, std::size_t to, const std::int32_t* strip, std::size_t width,
                               std::size_t outputs, std::int64_t* sums) {
  for (std::size_t j = 0; j < left.columns; ++j) {
    std::array<std::int32_t, lanes> total{};
    for (std::size_t row = from; row < to; ++row) {
      const std::int32_t value = left.values[row * left.columns + j];
      const std::int32_t* factors = strip + (row - from) * lanes;
      for (std::size_t k = 0; k < lanes; ++k) total[k] += value * factors[k];
    }
    for (std::size_t k = 0; k < width; ++k) sums[j * outputs + k] += total[k];
  }
}

template <std::size_t lanes>
TRADEOFF_INLINE void add_in_strips(IntegerRows left, IntegerRows right, std::size_t rows_at_once, std::int64_t* sums) {
  std::vector<std::int32_t> strip(rows_at_once * lanes);
  for (std::size_t from = 0; from < left.rows; from += rows_at_once) {
    const std::size_t to = std::min(left.rows, from + rows_at_once);
    for (std::size_t first = 0; first < right.columns; first += lanes) {
      const std::size_t width = std::min(lanes, right.columns - first);
      std::fill(strip.begin(), strip.end(), 0);
      for (std::size_t row = from; row < to; ++row)
        std::copy_n(right.values + row * right.columns + first, width, strip.begin() + static_cast<std::ptrdiff_t>((row - from) * lanes));
      add_strip<lanes>(left, from, to, strip.data(), width, right.columns, sums + first);
    }
  }
}

/// Two or four vectors of 256 bits at once.
TRADEOFF_INLINE void add_all(IntegerRows left, IntegerRows right, std::size_t rows_at_once, std::int64_t* sums) {
  if (right.columns > 16)
    add_in_strips<32>(left, right, rows_at_once, sums);
  else
    add_in_strips<16>(left, right, rows_at_once, sums);
}

#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
TRADEOFF_AVX2 void add_with_avx2(IntegerRows left, IntegerRows right, std::size_t rows_at_once, std::int64_t* sums) {
  add_all(left, right, rows_at_once, sums);
}
#endif

}  // namespace

void add_outer_products(IntegerRows left, IntegerRows right, std::size_t rows_at_once, std::span<std::int64_t> sums, noise::Level level) {
  rows_at_once = std::clamp<std::size_t>(rows_at_once, 1, 256);  // more would not fit in the first-level cache
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  if (level != noise::Level::portable) return add_with_avx2(left, right, rows_at_once, sums.data());
#endif
  static_cast<void>(level);
  add_all(left, right, rows_at_once, sums.data());
}

}  // namespace tradeoff::detail::train
