// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "noise/dyadic.h"
#include "noise/lazy_uniform.h"
#include "noise/sampler.h"

// Exact choices: coins, uniform indices, subsets, randomised response. [exact-choices]
namespace tradeoff::detail::noise {

/// A coin that is `true` with an exact probability: numerator / denominator, or 1 / (1 + others exp(-epsilon)).
class Coin {
 public:
  /// 0 <= numerator <= denominator, denominator > 0.
  [[nodiscard]] static Coin rational(std::uint64_t numerator, std::uint64_t denominator);
  /// `others` >= 1; epsilon is at most largest_epsilon.
  [[nodiscard]] static Coin logistic(Dyadic epsilon, std::uint64_t others);
  static constexpr double largest_epsilon = 512;

  [[nodiscard]] bool toss(WordStream& words) const;
  /// The same for a uniform number whose first bits are known.
  [[nodiscard]] bool toss(LazyUniform& uniform) const;

 private:
  enum class Kind { rational, logistic };
  Coin(Kind kind, Dyadic epsilon, std::uint64_t numerator, std::uint64_t denominator);
  [[nodiscard]] std::optional<bool> judge(const Enclosure& uniform) const;

  Kind kind_;
  Dyadic epsilon_;
  std::uint64_t numerator_;      // of the probability, or `others`
  std::uint64_t denominator_;    // of the probability
  std::uint64_t threshold_ = 0;  // words below it give true, words above it give false; an equal word needs more bits
};

/// Uniform on {0, ..., size - 1}, size > 0; words that would favour small indices are rejected.
[[nodiscard]] std::uint64_t uniform_below(std::uint64_t size, WordStream& words);

/// Randomised response as a shift modulo `choices`: 0 with probability e^eps / (e^eps + choices - 1), any other equally likely.
class Response final : public Sampler {
 public:
  Response(Dyadic epsilon, std::uint64_t choices) : epsilon_(epsilon), choices_(choices), keep_(Coin::logistic(epsilon, choices - 1)) {}
  void draw(WordStream& words, std::span<std::int64_t> shifts) const override;
  [[nodiscard]] DrawnLaw drawn_law() const override;
  [[nodiscard]] Dyadic epsilon() const { return epsilon_; }
  [[nodiscard]] std::uint64_t choices() const { return choices_; }

 private:
  Dyadic epsilon_;
  std::uint64_t choices_;
  Coin keep_;
};

/// Samples each of `population` records independently with the coin's probability; in ascending order.
[[nodiscard]] std::vector<std::uint64_t> bernoulli_subset(const Coin& coin, std::uint64_t population, WordStream& words);
/// `size` of `population` records, every subset equally likely; in ascending order.
[[nodiscard]] std::vector<std::uint64_t> fixed_subset(std::uint64_t size, std::uint64_t population, WordStream& words);

}  // namespace tradeoff::detail::noise
