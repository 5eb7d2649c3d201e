// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/grid_noise.h"
#include "noise/sampler.h"
#include "tradeoff/interval.h"

// The sampler; mechanism/discrete_gaussian.h accounts for it.
namespace tradeoff::detail::noise {

/// P(k) proportional to exp(-k^2 / (2 sigma^2)) on the integers, exactly: discrete Laplace proposals, each kept with probability
/// exp(-(|k| - sigma^2/t)^2 / (2 sigma^2)). [discrete-gaussian-sampler]
class DiscreteGaussian final : public Sampler {
 public:
  /// Throws DomainError unless 1/64 <= sigma <= 2^20.
  explicit DiscreteGaussian(Dyadic sigma);
  void draw(WordStream& words, std::span<std::int64_t> values) const override;
  [[nodiscard]] DrawnLaw drawn_law() const override;
  [[nodiscard]] Dyadic sigma() const { return sigma_; }
  /// Whether the proposal k is kept, given the word that decides it.
  [[nodiscard]] bool keeps(std::int64_t k, std::uint64_t word, WordStream& words) const;

 private:
  /// Decides from the first 63 bits with outward-rounded doubles if possible; empty otherwise.
  [[nodiscard]] std::optional<bool> keeps_surely(std::int64_t k, std::uint64_t word) const;
  [[nodiscard]] std::optional<bool> judge(const LazyUniform& uniform, std::uint64_t magnitude) const;

  Dyadic sigma_;
  std::uint64_t t_;
  GridNoise proposal_;
  GridNoise exponential_;  // scale 1: its table encloses -ln V
  Interval centre_;        // sigma^2 / t
  Interval twice_variance_;
};

}  // namespace tradeoff::detail::noise
