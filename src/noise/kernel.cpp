// SPDX-License-Identifier: Apache-2.0
#include "noise/kernel.h"

#include <bit>
#include <type_traits>

#include "noise/noise_table.h"

namespace tradeoff::detail::noise {
namespace {

TRADEOFF_INLINE std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}

/// All ones if the lowest bit of the word, the sign, is set. The empty assembly prevents a branch on the sign.
TRADEOFF_INLINE std::uint64_t sign_mask(std::uint64_t word) {
  std::uint64_t mask = 0 - (word & 1);
  __asm__("" : "+r"(mask));
  return mask;
}

// [integer-inversion] Bits 63..1 of the word are the first 63 bits of V; the last bit is set so that v is in the middle of their cell.
template <Quantile quantile>
TRADEOFF_INLINE Wide scaled(const KernelData& data, std::uint64_t word, std::size_t& octave) {
  using Table = std::conditional_t<quantile == Quantile::normal, NormalTable, ExponentialTable>;
  const std::uint64_t v = word | 1;
  octave = static_cast<std::size_t>(std::countl_zero(v));
  const std::uint64_t fraction = (v << octave) << 1;
  const std::uint64_t in_octave = fraction >> 58;
  const TableRow* row = nullptr;
  if constexpr (quantile == Quantile::normal) {
    const std::size_t known = octave < Table::octaves ? octave : Table::octaves - 1;  // limits[] rejects larger octaves
    row = &table::normal_rows[(known << 6) | in_octave];
  } else {
    row = &table::exponential_rows[in_octave];
  }
  const std::uint64_t t = ~(fraction << 6);
  std::uint64_t inner = (*row)[7];
#pragma GCC unroll 6
  for (std::size_t k = 6; k >= 1; --k) inner = (*row)[k] + multiply_high(inner, t);
  const std::uint64_t z = (*row)[0] + (multiply_high(inner, t) >> Table::guard);
  return ((static_cast<Wide>(data.numerator) * z) >> data.shift) + data.offsets[octave];
}

template <Quantile quantile>
TRADEOFF_INLINE bool decide(const KernelData& data, std::uint64_t word, std::int64_t& value) {
  std::size_t octave = 0;
  const Wide magnitude = scaled<quantile>(data, word, octave);
  const std::uint64_t mask = sign_mask(word);
  value = static_cast<std::int64_t>((static_cast<std::uint64_t>(magnitude >> 64) ^ mask) - mask);
  return static_cast<std::uint64_t>(magnitude) - data.errors[octave] < data.limits[octave];
}

template <Quantile quantile>
TRADEOFF_INLINE std::size_t decide_all(const KernelData& data, const std::uint64_t* words, std::size_t count, std::int64_t* values,
                                       std::uint16_t* undecided) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    undecided[left] = static_cast<std::uint16_t>(i);
    left += decide<quantile>(data, words[i], values[i]) ? 0 : 1;
  }
  return left;
}

template <Quantile quantile>
std::size_t portable(const KernelData& data, const std::uint64_t* words, std::size_t count, std::int64_t* values,
                     std::uint16_t* undecided) {
  return decide_all<quantile>(data, words, count, values, undecided);
}

#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
template <Quantile quantile>
TRADEOFF_AVX2 std::size_t with_avx2(const KernelData& data, const std::uint64_t* words, std::size_t count, std::int64_t* values,
                                    std::uint16_t* undecided) {
  return decide_all<quantile>(data, words, count, values, undecided);
}
#endif

template <Quantile quantile>
Kernel choose(Level level) {
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  if (level != Level::portable) return with_avx2<quantile>;
#endif
  static_cast<void>(level);
  return portable<quantile>;
}

}  // namespace

Kernel kernel_for(Quantile quantile, Level level) {
  return quantile == Quantile::normal ? choose<Quantile::normal>(level) : choose<Quantile::exponential>(level);
}

bool decide_word(const KernelData& data, std::uint64_t word, std::int64_t& value) {
  return data.quantile == Quantile::normal ? decide<Quantile::normal>(data, word, value) : decide<Quantile::exponential>(data, word, value);
}

std::optional<NearValue> near_exponential(const KernelData& data, std::uint64_t word) {
  std::size_t octave = 0;
  const Wide magnitude = scaled<Quantile::exponential>(data, word, octave) - data.offsets[0];
  if (data.limits[octave] == 0) return std::nullopt;
  constexpr double rounding = 0x1p-40;  // far above the error of the conversions to double
  return NearValue{static_cast<double>(magnitude) * 0x1p-64, static_cast<double>(data.errors[octave]) * 0x1p-64 + rounding};
}

}  // namespace tradeoff::detail::noise
