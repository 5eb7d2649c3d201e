// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "noise/instruction.h"
#include "noise/words.h"

namespace tradeoff::noise {

/// Where the draws of a release come from. A release draws from `WordSource` on the secure stream; a test may write down each draw.
class NoiseSource {
 public:
  NoiseSource() = default;
  NoiseSource(const NoiseSource&) = delete;
  NoiseSource& operator=(const NoiseSource&) = delete;
  virtual ~NoiseSource() = default;

  virtual void draw(const Sampler& sampler, std::span<std::int64_t> noise) = 0;
  /// Which of `population` records take part, in ascending order.
  [[nodiscard]] virtual std::vector<std::uint64_t> choose(const Sampling& sampling, std::uint64_t population) = 0;
};

class WordSource final : public NoiseSource {
 public:
  explicit WordSource(WordStream& words) : words_(words) {}
  void draw(const Sampler& sampler, std::span<std::int64_t> noise) override;
  [[nodiscard]] std::vector<std::uint64_t> choose(const Sampling& sampling, std::uint64_t population) override;

 private:
  WordStream& words_;
};

/// Carries out the instructions, and nothing else. All values are checked before anything is drawn; all noise is drawn before it meets
/// a value. Throws DomainError that names the value; nothing is released then. [grid-release]
[[nodiscard]] std::vector<std::vector<double>> carry_out(const std::vector<Instruction>& instructions, const ReleaseTerms& terms,
                                                         std::span<const double> values, NoiseSource& source);

}  // namespace tradeoff::noise
