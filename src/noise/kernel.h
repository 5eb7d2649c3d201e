// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "noise/natural.h"
#include "noise/processor.h"

// The fast path: integer arithmetic alone. From a word it finds the magnitude floor(scale * quantile(V) + offset) for every number V that
// starts with the word's bits, or says that these bits do not decide it. [integer-inversion]
namespace tradeoff::noise {

/// Words handled in one go.
inline constexpr std::size_t most_words = 512;

enum class Quantile { normal, exponential };

/// What the kernels read; made once for a law by GridNoise. The index of arrays is the octave, the number of leading zeros of a word.
struct KernelData {
  Quantile quantile = Quantile::normal;
  std::uint64_t numerator = 0;             ///< of the scale
  int shift = 0;                           ///< turns numerator * z into 64 integer and 64 fractional bits
  std::array<Wide, 64> offsets{};          ///< what is added to the scaled table value, 64.64
  std::array<std::uint64_t, 64> errors{};  ///< bound of all errors, in units of 2^-64
  std::array<std::uint64_t, 64> limits{};  ///< 2^64 - 1 - 2 * error; 0 where nothing can be certified

  bool eight_wide = false;  ///< whether the scale suits the 52-bit multiplications below
  std::uint64_t numerator_52 = 0;
  int fraction_bits = 0;
  std::array<std::uint64_t, 64> offsets_64{};  ///< offsets in units of 2^-fraction_bits
};

/// Writes a signed candidate for each of `count` <= most_words words and the indices that are not decided; returns how many those are.
using Kernel = std::size_t (*)(const KernelData& data, const std::uint64_t* words, std::size_t count, std::int64_t* values,
                               std::uint16_t* undecided);

[[nodiscard]] Kernel kernel_for(Quantile quantile, Level level);
/// The eight-wide kernels; words they cannot decide go to the scalar one. Null where the compiler has no such instructions.
[[nodiscard]] Kernel eight_wide_kernel(Quantile quantile);
/// One word at a time, for the lanes that the eight-wide kernel leaves over.
[[nodiscard]] bool decide_word(const KernelData& data, std::uint64_t word, std::int64_t& value);

/// scale * quantile(V) lies within `error` of `value`, for every V that starts with the word's bits; for exponential data, and nothing
/// if the word is beyond the table.
struct NearValue {
  double value;
  double error;
};
[[nodiscard]] std::optional<NearValue> near_exponential(const KernelData& data, std::uint64_t word);

}  // namespace tradeoff::noise
