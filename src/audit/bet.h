// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/claim.h"

// A bet against one line of a claim, on one event. [betting-audit]
namespace tradeoff::detail::audit {

/// The factors by which the wealth changes after one output of each stream: one for whether the output of the likelier stream is in the
/// event, one for that of the other stream. Each is a lower bound of its exact value.
struct Bet {
  Line line{};
  double in_first = 1, out_first = 1;    ///< for the stream in which the event is expected to be likelier
  double in_second = 1, out_second = 1;  ///< for the other stream
  double growth = 0;                     ///< estimate: expected logarithm of the factor of a pair

  [[nodiscard]] double factor(bool first, bool second) const;
};

/// The bet with the largest expected growth if the event has these probabilities; no growth (and no stake) if they do not exceed the line.
[[nodiscard]] Bet make_bet(const Line& line, double first, double second);

/// An estimate of the growth, quick, for a search among lines and events.
[[nodiscard]] double rough_growth(const Line& line, double first, double second);

}  // namespace tradeoff::detail::audit
