// SPDX-License-Identifier: Apache-2.0
#include "noise/digest.h"

#include <array>
#include <bit>
#include <cstdint>

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

void absorb(DigestState& state, std::string_view block) {
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

}  // namespace

std::string sha256(std::string_view bytes) {
  DigestState state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(bytes);
  padded += '\x80';
  padded.append((120 - padded.size() % 64) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(static_cast<std::uint64_t>(bytes.size()) * 8 >> shift);
  for (std::size_t at = 0; at < padded.size(); at += 64) absorb(state, std::string_view(padded).substr(at, 64));
  std::string digits;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  return digits;
}

}  // namespace tradeoff::detail::noise
