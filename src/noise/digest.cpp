// SPDX-License-Identifier: Apache-2.0
#include "noise/digest.h"

#include <array>
#include <bit>
#include <cstdint>
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
#include <immintrin.h>
#endif

#include "noise/processor.h"

namespace tradeoff::detail::noise {
namespace {

using DigestState = std::array<std::uint32_t, 8>;

constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void absorb_plainly(DigestState& state, std::string_view block) {
  std::array<std::uint32_t, 64> schedule{};
  for (std::size_t i = 0; i < 64; ++i) schedule[i / 4] = (schedule[i / 4] << 8) | static_cast<unsigned char>(block[i]);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = schedule[i - 15], b = schedule[i - 2];
    schedule[i] = schedule[i - 16] + schedule[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
                  (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  DigestState x = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = x[7] + (std::rotr(x[4], 6) ^ std::rotr(x[4], 11) ^ std::rotr(x[4], 25)) + ((x[4] & x[5]) ^ (~x[4] & x[6])) +
                                round_constants[i] + schedule[i];
    const std::uint32_t second =
        (std::rotr(x[0], 2) ^ std::rotr(x[0], 13) ^ std::rotr(x[0], 22)) + ((x[0] & x[1]) ^ (x[0] & x[2]) ^ (x[1] & x[2]));
    x = {first + second, x[0], x[1], x[2], x[3] + first, x[4], x[5], x[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) state[i] += x[i];
}

#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
/// The same with the instructions for SHA-256, where the processor has them: a log of a million entries is checked in seconds.
__attribute__((target("sha,sse4.1"))) void absorb_by_instructions(DigestState& state, std::string_view block) {
  const auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions hold the state as (a b e f) and (c d g h).
  __m128i low = _mm_shuffle_epi32(load(&state[0]), 0xb1), high = _mm_shuffle_epi32(load(&state[4]), 0x1b);
  const __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
  __m128i first = abef, second = cdgh;
  __m128i schedule[4];
  for (int i = 0; i < 16; ++i) {  // four rounds each
    __m128i& words = schedule[i % 4];
    if (i < 4) {
      words = _mm_shuffle_epi8(load(block.data() + 16 * i), big_endian);
    } else {
      const __m128i before = schedule[(i + 3) % 4];
      words = _mm_add_epi32(_mm_sha256msg1_epu32(words, schedule[(i + 1) % 4]), _mm_alignr_epi8(before, schedule[(i + 2) % 4], 4));
      words = _mm_sha256msg2_epu32(words, before);
    }
    __m128i sum = _mm_add_epi32(words, load(&round_constants[static_cast<std::size_t>(4 * i)]));
    second = _mm_sha256rnds2_epu32(second, first, sum);
    sum = _mm_shuffle_epi32(sum, 0x0e);
    first = _mm_sha256rnds2_epu32(first, second, sum);
  }
  low = _mm_shuffle_epi32(_mm_add_epi32(first, abef), 0x1b);
  high = _mm_shuffle_epi32(_mm_add_epi32(second, cdgh), 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[0]), _mm_blend_epi16(low, high, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(high, low, 8));
}

bool has_instructions() {
  const Processor processor = examine_processor();
  return processor.has_sha && processor.has_sse41;
}
#endif

using Absorb = void (*)(DigestState& state, std::string_view block);
Absorb best_absorb() {
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  if (has_instructions()) return absorb_by_instructions;
#endif
  return absorb_plainly;
}

std::string digest(std::string_view bytes, Absorb absorb) {
  DigestState state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::size_t at = 0;
  for (; bytes.size() - at >= 64; at += 64) absorb(state, bytes.substr(at, 64));
  std::string rest(bytes.substr(at));
  rest += '\x80';
  rest.append((120 - rest.size() % 64) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(static_cast<std::uint64_t>(bytes.size()) * 8 >> shift);
  for (std::size_t i = 0; i < rest.size(); i += 64) absorb(state, std::string_view(rest).substr(i, 64));
  std::string digits;
  digits.reserve(64);
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  return digits;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Absorb best = best_absorb();
  return digest(bytes, best);
}

std::string sha256_plainly(std::string_view bytes) { return digest(bytes, absorb_plainly); }

}  // namespace tradeoff::detail::noise
