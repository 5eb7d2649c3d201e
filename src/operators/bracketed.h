// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "loss/loss.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// A mechanism whose pair is known only to lie between two others: `above` dominates it, and it dominates every pair of `below`, of which
/// there is at least one. [bracketed-pair]
struct Bracket {
  LossPointer above;
  std::vector<LossPointer> below;
  /// Whether Renyi divergences are stated of a part: then theorems about the runs of `above` may show less than any pair of `below`, and
  /// lower ends go no further.
  bool states_divergences = false;

  /// Encloses a quantity that grows with the profile, and is enclosed by `read` for each pair.
  template <class Read>
  [[nodiscard]] Interval grown(Read&& read) const {
    Interval found = read(*above);
    found.lo = read(*below.front()).lo;
    for (std::size_t i = 1; i < below.size(); ++i) found.lo = std::max(found.lo, read(*below[i]).lo);
    if (states_divergences) found.lo = std::min(found.lo, found.hi);
    cite();
    return found;
  }
  /// The same for a quantity that falls as the profile grows.
  template <class Read>
  [[nodiscard]] Interval fallen(Read&& read) const {
    Interval found = read(*above);
    found.hi = read(*below.front()).hi;
    for (std::size_t i = 1; i < below.size(); ++i) found.hi = std::min(found.hi, read(*below[i]).hi);
    if (states_divergences) found.hi = std::max(found.lo, found.hi);
    cite();
    return found;
  }
  static void cite();
};

/// The profile between the pairs. Questions should be put to each of its pairs instead (Profile does so): each has its own way to answer.
[[nodiscard]] LossPointer bracketed(LossPointer above, std::vector<LossPointer> below, bool states_divergences = false);

}  // namespace tradeoff::detail
