// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "noise/natural.h"
#include "noise/processor.h"

// The fast path, in integer arithmetic only. From a word it computes the magnitude floor(scale * quantile(V) + offset) if it is the same
// for every number V that starts with the word's bits; otherwise it reports that these bits do not decide it. [integer-inversion]
namespace tradeoff::detail::noise {

/// Number of words processed in one call.
inline constexpr std::size_t most_words = 512;

enum class Quantile { normal, exponential };

/// The data of the kernels; GridNoise makes it once per distribution. Arrays are indexed by the octave, the number of leading zeros of a
/// word.
struct KernelData {
  Quantile quantile = Quantile::normal;
  std::uint64_t numerator = 0;             ///< of the scale
  int shift = 0;                           ///< turns numerator * z into 64 integer and 64 fractional bits
  std::array<Wide, 64> offsets{};          ///< what is added to the scaled table value, 64.64
  std::array<std::uint64_t, 64> errors{};  ///< bound of the sum of all errors, in units of 2^-64
  std::array<std::uint64_t, 64> limits{};  ///< 2^64 - 1 - 2 * error; 0 if nothing can be decided

  bool eight_wide = false;  ///< whether the scale fits the 52-bit multiplications below
  std::uint64_t numerator_52 = 0;
  int fraction_bits = 0;
  std::array<std::uint64_t, 64> offsets_64{};  ///< offsets in units of 2^-fraction_bits
};

/// Writes a signed candidate for each of `count` <= most_words words and the indices of undecided words; returns the number of the latter.
using Kernel = std::size_t (*)(const KernelData& data, const std::uint64_t* words, std::size_t count, std::int64_t* values,
                               std::uint16_t* undecided);

[[nodiscard]] Kernel kernel_for(Quantile quantile, Level level);
/// The AVX-512 kernels; words that they cannot decide are passed to the scalar one. Null if the compiler lacks these instructions.
[[nodiscard]] Kernel eight_wide_kernel(Quantile quantile);
/// One word at a time, for the remaining words.
[[nodiscard]] bool decide_word(const KernelData& data, std::uint64_t word, std::int64_t& value);

/// scale * quantile(V) lies within `error` of `value`, for every V that starts with the word's bits; for exponential data. Empty if the
/// word is beyond the table.
struct NearValue {
  double value;
  double error;
};
[[nodiscard]] std::optional<NearValue> near_exponential(const KernelData& data, std::uint64_t word);

}  // namespace tradeoff::detail::noise
