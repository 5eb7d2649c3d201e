// SPDX-License-Identifier: Apache-2.0
#include "noise/chacha.h"

#include "noise/secret.h"

namespace tradeoff::detail::noise {
namespace {

// Computes as many blocks at a time as a vector register has 32-bit words.
using FourLanes = std::uint32_t __attribute__((vector_size(16)));
using EightLanes = std::uint32_t __attribute__((vector_size(32)));
using SixteenLanes = std::uint32_t __attribute__((vector_size(64)));

template <class Lanes>
TRADEOFF_INLINE void rotate(Lanes& x, int by) {
  x = (x << by) | (x >> (32 - by));
}

template <class Lanes>
TRADEOFF_INLINE void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
  a += b;
  d ^= a;
  rotate(d, 16);
  c += d;
  b ^= c;
  rotate(b, 12);
  a += b;
  d ^= a;
  rotate(d, 8);
  c += d;
  b ^= c;
  rotate(b, 7);
}

template <class Lanes>
TRADEOFF_INLINE void some_blocks(const std::uint32_t* key, std::uint32_t counter, std::uint32_t* out) {
  constexpr std::array<std::uint32_t, 4> words = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k"
  constexpr std::size_t lanes = sizeof(Lanes) / 4;
  Lanes start[16] = {};
  for (std::size_t i = 0; i < 4; ++i) start[i] += words[i];
  for (std::size_t i = 0; i < 8; ++i) start[4 + i] += key[i];
  for (std::size_t lane = 0; lane < lanes; ++lane) start[12][lane] = counter + static_cast<std::uint32_t>(lane);
  Lanes x[16];
  std::memcpy(x, start, sizeof x);
  for (int round = 0; round < 10; ++round) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  for (std::size_t i = 0; i < 16; ++i) {
    x[i] += start[i];
    std::memcpy(out + chacha_lanes * i, &x[i], sizeof(Lanes));
  }
  wipe(&start, sizeof start);
  wipe(&x, sizeof x);
}

template <class Lanes>
TRADEOFF_INLINE void batch(const std::uint32_t* key, std::uint32_t counter, std::uint32_t* out) {
  for (std::size_t first = 0; first < chacha_lanes; first += sizeof(Lanes) / 4)
    some_blocks<Lanes>(key, counter + static_cast<std::uint32_t>(first), out + first);
}

void batch_portable(const std::uint32_t* key, std::uint32_t counter, std::uint32_t* out) { batch<FourLanes>(key, counter, out); }
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
TRADEOFF_AVX2 void batch_avx2(const std::uint32_t* key, std::uint32_t counter, std::uint32_t* out) { batch<EightLanes>(key, counter, out); }
TRADEOFF_AVX512 void batch_avx512(const std::uint32_t* key, std::uint32_t counter, std::uint32_t* out) {
  batch<SixteenLanes>(key, counter, out);
}
#endif

}  // namespace

void chacha20(const std::array<std::uint32_t, 8>& key, std::uint32_t counter, std::span<std::uint32_t, chacha_words> out, Level level) {
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  if (level == Level::avx512) return batch_avx512(key.data(), counter, out.data());
  if (level == Level::avx2) return batch_avx2(key.data(), counter, out.data());
#endif
  static_cast<void>(level);
  batch_portable(key.data(), counter, out.data());
}

}  // namespace tradeoff::detail::noise
