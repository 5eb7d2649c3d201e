// SPDX-License-Identifier: Apache-2.0
#include "noise/kernel.h"
#include "noise/noise_table.h"

#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // false warnings in the intrinsics of g++ 12 (GCC bug 105593)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

// Eight words at a time with 52-bit multiply-add. Its enclosure contains that of the scalar kernel, so both agree wherever it decides; the
// other words go to the exact path. [integer-inversion]
namespace tradeoff::detail::noise {

#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
namespace {

/// Truncating coefficients, argument and products to 52 bits loses at most 7 + 7 + 1.01 inner units, always downwards. Half of that is
/// added back; `spread` covers the rest on either side together with the error of the scalar kernel.
struct NormalLanes {
  static constexpr int unit_shift = 3;  // inner units of 2^-58 in table units of 2^-61
  static constexpr std::uint64_t recentre = 60;
  static constexpr double remaining = 60.2;
  static constexpr int high_shift = 10, low_shift = 42, error_shift = 2;
  static constexpr std::uint64_t octaves = NormalTable::octaves;
  static constexpr std::uint64_t rounding = 3;  // floors of the product and of the error, in units of 2^-fraction_bits
  static constexpr std::uint64_t spread(std::uint64_t octave) { return 63 + ((1ULL << octave) >> 3); }
  static constexpr const auto& errors = table::normal_errors;
};
struct ExponentialLanes {
  static constexpr int unit_shift = 6;
  static constexpr std::uint64_t recentre = 480;
  static constexpr double remaining = 480.7;
  static constexpr int high_shift = 4, low_shift = 48, error_shift = 8;
  static constexpr std::uint64_t octaves = 48;
  static constexpr std::uint64_t rounding = 5;  // as above, and the floor of the offset
  static constexpr std::uint64_t spread(std::uint64_t octave) { return 486 + ((1025ULL << octave) >> 10); }
  static constexpr const auto& errors = table::exponential_errors;
};

template <class Lanes>
constexpr bool spread_suffices() {
  for (std::size_t octave = 0; octave < Lanes::octaves; ++octave)
    if (static_cast<double>(Lanes::errors[octave]) + Lanes::remaining > static_cast<double>(Lanes::spread(octave))) return false;
  return true;
}
static_assert(spread_suffices<NormalLanes>() && spread_suffices<ExponentialLanes>());

using Eight = __m512i;

TRADEOFF_AVX512 inline Eight all(std::uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }

/// Loads eight rows and transposes them, so that c[k] holds coefficient k of every lane.
TRADEOFF_AVX512 inline void load_rows(const TableRow* rows, Eight index, Eight (&c)[8]) {
  alignas(64) std::uint64_t at[8];
  _mm512_store_si512(at, index);
  Eight a[8], b[8];
  for (std::size_t k = 0; k < 8; ++k) a[k] = _mm512_load_si512(rows + at[k]);
  for (std::size_t k = 0; k < 4; ++k) {
    b[2 * k] = _mm512_unpacklo_epi64(a[2 * k], a[2 * k + 1]);
    b[2 * k + 1] = _mm512_unpackhi_epi64(a[2 * k], a[2 * k + 1]);
  }
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t odd = 0; odd < 2; ++odd) {
      a[4 * half + odd] = _mm512_shuffle_i64x2(b[4 * half + odd], b[4 * half + 2 + odd], 0x88);
      a[4 * half + 2 + odd] = _mm512_shuffle_i64x2(b[4 * half + odd], b[4 * half + 2 + odd], 0xdd);
    }
  }
  for (std::size_t odd = 0; odd < 2; ++odd) {
    c[odd] = _mm512_shuffle_i64x2(a[odd], a[4 + odd], 0x88);
    c[4 + odd] = _mm512_shuffle_i64x2(a[odd], a[4 + odd], 0xdd);
    c[2 + odd] = _mm512_shuffle_i64x2(a[2 + odd], a[6 + odd], 0x88);
    c[6 + odd] = _mm512_shuffle_i64x2(a[2 + odd], a[6 + odd], 0xdd);
  }
}

/// Eight signed candidates; the set bits of the result mark undecided lanes.
template <class Lanes>
TRADEOFF_AVX512 inline unsigned eight_values(const KernelData& data, const std::uint64_t* words, std::int64_t* values) {
  constexpr bool normal = Lanes::unit_shift == NormalLanes::unit_shift;
  const Eight zero = _mm512_setzero_si512(), one = all(1);
  const Eight word = _mm512_loadu_si512(words), v = _mm512_or_si512(word, one), octave = _mm512_lzcnt_epi64(v);
  const Eight known = _mm512_min_epu64(octave, all(Lanes::octaves - 1));
  const Eight fraction = _mm512_slli_epi64(_mm512_sllv_epi64(v, octave), 1);
  Eight index = _mm512_srli_epi64(fraction, 58);
  if constexpr (normal) index = _mm512_or_si512(_mm512_slli_epi64(known, 6), index);
  Eight c[8];
  load_rows(normal ? table::normal_rows.data() : table::exponential_rows.data(), index, c);

  const Eight t = _mm512_srli_epi64(_mm512_andnot_si512(_mm512_slli_epi64(fraction, 6), all(~0ULL)), 12);
  Eight inner = _mm512_srli_epi64(c[7], 12);
  for (int k = 6; k >= 1; --k) inner = _mm512_madd52hi_epu64(_mm512_srli_epi64(c[k], 12), inner, t);
  const Eight product = _mm512_slli_epi64(_mm512_madd52hi_epu64(zero, inner, t), Lanes::unit_shift);
  const Eight z = _mm512_add_epi64(_mm512_add_epi64(c[0], all(Lanes::recentre)), product);

  const Eight scale = all(data.numerator_52);
  const Eight z_high = _mm512_srli_epi64(z, 12), z_low = _mm512_and_si512(_mm512_slli_epi64(z, 40), all((1ULL << 52) - 1));
  const Eight low = _mm512_madd52hi_epu64(_mm512_madd52lo_epu64(zero, scale, z_high), scale, z_low);
  const Eight high = _mm512_madd52hi_epu64(zero, scale, z_high);
  const Eight scaled = _mm512_add_epi64(_mm512_slli_epi64(high, Lanes::high_shift), _mm512_srli_epi64(low, Lanes::low_shift));
  const Eight offset = normal ? all(data.offsets_64[0]) : _mm512_i64gather_epi64(octave, data.offsets_64.data(), 8);
  const Eight total = _mm512_add_epi64(scaled, offset);

  const __m128i bits = _mm_cvtsi32_si128(data.fraction_bits), to_top = _mm_cvtsi32_si128(64 - data.fraction_bits);
  const Eight magnitude = _mm512_srl_epi64(total, bits);
  _mm512_storeu_si512(values, _mm512_mask_sub_epi64(magnitude, _mm512_test_epi64_mask(word, one), zero, magnitude));

  const Eight octave_part =
      normal ? _mm512_srli_epi64(_mm512_sllv_epi64(one, known), 3) : _mm512_srli_epi64(_mm512_sllv_epi64(all(1025), known), 10);
  const Eight spread = _mm512_add_epi64(all(Lanes::spread(0) - (normal ? 0 : 1)), octave_part);
  const Eight error =
      _mm512_add_epi64(_mm512_srli_epi64(_mm512_madd52hi_epu64(zero, spread, scale), Lanes::error_shift), all(Lanes::rounding));
  const Eight error_top = _mm512_sll_epi64(error, to_top), fraction_top = _mm512_sll_epi64(total, to_top);
  const __mmask8 decided =
      _mm512_cmplt_epu64_mask(_mm512_sub_epi64(fraction_top, error_top), _mm512_sub_epi64(all(~0ULL), _mm512_slli_epi64(error_top, 1)));
  const __mmask8 deep = _mm512_cmpge_epu64_mask(octave, all(Lanes::octaves));
  const __mmask8 wide = _mm512_cmpge_epu64_mask(error, all(1ULL << (data.fraction_bits - 2)));
  return (~static_cast<unsigned>(decided) & 0xffU) | deep | wide;
}

template <class Lanes>
TRADEOFF_AVX512 std::size_t eight_wide(const KernelData& data, const std::uint64_t* words, std::size_t count, std::int64_t* values,
                                       std::uint16_t* undecided) {
  std::size_t left = 0;
  const auto one_by_one = [&](std::size_t i) {
    if (!decide_word(data, words[i], values[i])) undecided[left++] = static_cast<std::uint16_t>(i);
  };
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const unsigned open = eight_values<Lanes>(data, words + i, values + i);
    if (open == 0) [[likely]]
      continue;
    for (unsigned lane = 0; lane < 8; ++lane)
      if ((open >> lane & 1) != 0) one_by_one(i + lane);
  }
  for (; i < count; ++i) one_by_one(i);
  return left;
}

}  // namespace

Kernel eight_wide_kernel(Quantile quantile) {
  return quantile == Quantile::normal ? eight_wide<NormalLanes> : eight_wide<ExponentialLanes>;
}
#else
Kernel eight_wide_kernel(Quantile) { return nullptr; }
#endif

}  // namespace tradeoff::detail::noise
