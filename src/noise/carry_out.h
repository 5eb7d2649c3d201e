// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "noise/instruction.h"
#include "noise/words.h"

namespace tradeoff::detail::noise {

/// The source of the draws of a release. A release uses `WordSource` on the secure stream; a test may prescribe each draw.
class NoiseSource {
 public:
  NoiseSource() = default;
  NoiseSource(const NoiseSource&) = delete;
  NoiseSource& operator=(const NoiseSource&) = delete;
  virtual ~NoiseSource() = default;

  virtual void draw(const Sampler& sampler, std::span<std::int64_t> noise) = 0;
  /// The sampled records among `population`, in ascending order.
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

/// Executes the instructions. All values are checked before anything is drawn; all noise is drawn before it is added to a value. Throws
/// DomainError that names the value; then nothing is released. [grid-release]
[[nodiscard]] std::vector<std::vector<double>> carry_out(const std::vector<Instruction>& instructions, const ReleaseTerms& terms,
                                                         std::span<const double> values, NoiseSource& source);

}  // namespace tradeoff::detail::noise
