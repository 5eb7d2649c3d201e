// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tradeoff/guarantee.h"
#include "tradeoff/interval.h"

// The older theorems, for comparison. Each function encloses the value of its formula and throws DomainError, with the reason, if its
// theorem does not apply. [classical-composition] [classical-gaussian] [classical-sampling]
namespace tradeoff::detail {

/// A mechanism known by one guarantee, and how often it is run.
struct StatedRuns {
  Guarantee each;
  std::uint64_t times = 1;
};

/// The least e such that (epsilon, delta)-DP implies (e, wanted)-DP; infinite if there is none. [profile-refinement]
[[nodiscard]] Interval implied_epsilon(Interval epsilon, Interval delta, Interval wanted);

/// Basic composition: epsilons add, deltas add; then the epsilon that this implies at `delta`.
[[nodiscard]] Interval basic_composition(const std::vector<StatedRuns>& runs, Interval delta);
/// Advanced composition (Dwork, Rothblum and Vadhan): `delta` minus the deltas of the runs bounds the probability of a large loss.
[[nodiscard]] Interval advanced_composition(const std::vector<StatedRuns>& runs, Interval delta);
/// Mironov's corollary for `times` runs of (epsilon, 0)-DP: 4 epsilon sqrt(2 times log(1/delta)).
[[nodiscard]] Interval renyi_corollary(Interval epsilon, std::uint64_t times, Interval delta);

/// The same mechanism on a sample that contains each record with this probability: (log(1 + rate (e^epsilon - 1)), rate delta).
[[nodiscard]] Guarantee amplified(const Guarantee& run, Interval rate);

/// Gaussian noise of standard deviation sensitivity/mu: the epsilon at `delta` by sigma^2 = 32 Delta^2 log(2/delta) / (9 epsilon^2), for
/// epsilon <= 1; and by sigma^2 = 2 Delta^2 log(1.25/delta) / epsilon^2, for epsilon < 1. Both are checked against the exact profile.
[[nodiscard]] Interval gaussian_epsilon_simple(Interval mu, Interval delta);
[[nodiscard]] Interval gaussian_epsilon_classical(Interval mu, Interval delta);
/// epsilon = 0, if sigma >= Delta / (2 delta).
[[nodiscard]] Interval gaussian_epsilon_zero(Interval mu, Interval delta);
/// No epsilon below mu^2/2 is possible if delta < 1/2 - e^epsilon Phi(-sqrt(2 epsilon)) there: the corrected condition.
[[nodiscard]] Interval gaussian_epsilon_at_least(Interval mu, Interval delta);

/// "Name and shame" publishes each record with probability delta; it is (0, delta)-DP. The probability that one of `people` is published.
[[nodiscard]] Interval name_and_shame(Interval delta, std::uint64_t people);

}  // namespace tradeoff::detail
