// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "audit/claim.h"

// Audits of one training run with canaries that were included by independent fair coins. [one-run-audit]
namespace tradeoff::detail::audit {

/// The number of canaries, of guesses whether one was included, and of guesses that are right. The others are abstentions.
struct Guesses {
  std::uint64_t canaries = 0;
  std::uint64_t made = 0;
  std::uint64_t right = 0;
};

/// An epsilon such that the run is not (smaller epsilon, delta)-DP, except with probability `error`; 0 if nothing is shown.
[[nodiscard]] double epsilon_below(Guesses guesses, double delta, double error);

/// An upper bound of the probability that so many guesses or more are right if both directions of the run respect these lines.
[[nodiscard]] double chance_above(Guesses guesses, const std::vector<Line>& lines);

/// A mu such that the run is not smaller-mu-GDP, except with probability `error`; 0 if nothing is shown.
[[nodiscard]] double mu_below(Guesses guesses, double error);

/// A canary: its score, and whether it was included.
struct Canary {
  double score = 0;
  bool included = false;
};

/// The numbers of guesses that are tried: all canaries, then each time half as many.
[[nodiscard]] std::vector<std::uint64_t> numbers_of_guesses(std::uint64_t canaries);
/// Guesses that the canaries with the highest scores were included and those with the lowest were not. Equal scores are in the order of
/// the list, which must not depend on the coins.
[[nodiscard]] Guesses guess(std::vector<Canary> canaries, std::uint64_t made);

}  // namespace tradeoff::detail::audit
