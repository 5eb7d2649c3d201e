// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "audit/bet.h"
#include "audit/rate.h"
#include "audit/score.h"

// The choice of events from earlier outputs. [betting-audit]
namespace tradeoff::detail::audit {

/// A threshold of a score, and the stream in which it is expected to be exceeded more often.
struct Event {
  std::size_t score = 0;  ///< which of the scores
  double threshold = 0;
  bool above = true;
  Order order = Order::with_over_without;

  [[nodiscard]] bool holds(double score_value) const { return above ? score_value >= threshold : score_value <= threshold; }
};

/// An event with its counts among earlier outputs, in the stream in which it is expected to be likelier and in the other one.
struct Candidate {
  Event event{};
  Count first{};
  Count second{};
};

struct BetOnEvent {
  Candidate on{};
  Bet bet{};
};

/// Every threshold of every score that is considered, on both sides and in both orders.
[[nodiscard]] std::vector<Candidate> candidates(const std::vector<Score>& scores, Rows with, Rows without);

/// At most one bet for each score, those that are expected to grow most; none if no event seems to exceed the claim.
[[nodiscard]] std::vector<BetOnEvent> choose_bets(const std::vector<Candidate>& found, const Claim& claim);

/// Few events that together give good bounds on the curve at every epsilon.
[[nodiscard]] std::vector<Candidate> choose_for_band(const std::vector<Candidate>& found);

}  // namespace tradeoff::detail::audit
