// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tradeoff/plan.h"

// Mechanisms as finitely many events, in plain doubles and from first principles: nothing is taken from the library or the witness.
namespace tradeoff::detail::breaker {

/// An event: its probability with the record and without it, and the range of the loss log(P/Q) on it.
struct Event {
  double p = 0;
  double q = 0;
  double low = 0;   ///< minus infinity if p = 0 somewhere in it
  double high = 0;  ///< infinite if q = 0 somewhere in it
};
using Events = std::vector<Event>;

struct Steps {
  Events events;
  double times = 1;
};

/// The lines of a plan as events, each with its number of runs; empty if some line is not supported.
[[nodiscard]] std::optional<std::vector<Steps>> events_of(const Plan& plan);

/// The same with P and Q exchanged.
[[nodiscard]] Events exchanged(Events events);

struct Bracket {
  double low = 0;
  double high = 1;
};
/// delta(epsilon) of all steps, by rounding every loss down and up on a grid: both ends are valid up to the rounding of sums of positive
/// doubles. The time is quadratic in the number of cells.
[[nodiscard]] Bracket delta_on_grid(const std::vector<Steps>& steps, double epsilon);
/// An upper bound of log delta(epsilon) from one moment: log of kappa(order) exp(-order epsilon) times the product of E exp(order L). The
/// infinite mass is given separately.
struct MomentBound {
  double log_delta = 0;
  double revealed = 0;
};
[[nodiscard]] MomentBound moment_bound(const std::vector<Steps>& steps, double epsilon);

}  // namespace tradeoff::detail::breaker
