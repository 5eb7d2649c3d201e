// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "noise/dyadic.h"
#include "noise/kernel.h"
#include "noise/lazy_uniform.h"
#include "noise/sampler.h"

namespace tradeoff::detail::noise {

/// Distributions on the integers, sampled by inversion from one word per draw. `scale` is in steps of the grid.
enum class Law {
  rounded_gaussian,  ///< round(scale * Z), Z a real standard normal
  rounded_laplace,   ///< round(scale * L), L a real Laplace variable of scale 1
  discrete_laplace,  ///< P(k) proportional to exp(-|k| / scale)
};

/// The scales, in steps, that the tables cover.
inline constexpr double smallest_scale = 0x1p-6;
inline constexpr double largest_scale = 0x1p45;

/// Whether V < exp(-z) for a uniform number V, if its known bits decide it. [slow-decision]
[[nodiscard]] std::optional<bool> below_exponential_tail(const LazyUniform& uniform, const Enclosure& z);

/// Draws exactly from its distribution, given ideal random words. [rounded-gaussian-sampler] [laplace-samplers]
class GridNoise final : public Sampler {
 public:
  /// Throws DomainError for a scale outside the range above.
  GridNoise(Law law, Dyadic scale);

  void draw(WordStream& words, std::span<std::int64_t> values) const override { draw(words, values, best_level()); }
  void draw(WordStream& words, std::span<std::int64_t> values, Level level) const;
  [[nodiscard]] DrawnLaw drawn_law() const override;

  /// The value for a word and the bits after it; `guess` affects only the speed. `draw` calls it if the tables do not decide.
  [[nodiscard]] std::int64_t decide_slowly(std::uint64_t word, std::int64_t guess, WordStream& words) const;
  /// The magnitude for a uniform number of which any number of bits is known.
  [[nodiscard]] std::int64_t magnitude(LazyUniform& uniform, std::int64_t guess) const;

  [[nodiscard]] const KernelData& data() const { return data_; }
  [[nodiscard]] Law law() const { return law_; }
  [[nodiscard]] Dyadic scale() const { return scale_; }

 private:
  /// Whether the magnitude of this uniform number is at least m >= 1.
  [[nodiscard]] bool reaches(LazyUniform& uniform, std::uint64_t m) const;
  [[nodiscard]] std::optional<bool> judge(const LazyUniform& uniform, std::uint64_t m) const;
  void prepare_scalar();
  void prepare_eight_wide();

  Law law_;
  Dyadic scale_;
  KernelData data_;
};

}  // namespace tradeoff::detail::noise
