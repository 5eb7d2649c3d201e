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

/// With fewer nothing is shown at a usual confidence.
inline constexpr std::size_t fewest_canaries = 16;

/// The numbers of guesses that are tried: all canaries, then each time half as many.
[[nodiscard]] std::vector<std::uint64_t> numbers_of_guesses(std::uint64_t canaries);
/// Guesses that the canaries with the highest scores were included and those with the lowest were not. Equal scores are in a fixed
/// pseudo-random order of the rows, so that a list that is sorted by the coins tells nothing. [one-run-audit]
[[nodiscard]] Guesses guess(const std::vector<Canary>& canaries, std::uint64_t made);
/// The guesses for each of those numbers.
[[nodiscard]] std::vector<Guesses> guess_all(const std::vector<Canary>& canaries);

/// What guesses show about a run. Each bound by itself is wrong with probability at most the error.
struct OneRun {
  Guesses best{};     ///< the trial that speaks most against the claim
  double chance = 1;  ///< bounds the probability of such guesses in any trial, under the claim; refuted if it is at most the error
  double epsilon_below = 0;
  double mu_below = 0;
};

/// Several trials share the error equally.
[[nodiscard]] OneRun judge_one_run(const std::vector<Guesses>& trials, const std::vector<Line>& lines, double delta, double error);

}  // namespace tradeoff::detail::audit
