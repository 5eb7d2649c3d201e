// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "tradeoff/curve.h"

// A certified curve as an auditor sees it: straight lines that no event may exceed. [betting-audit]
namespace tradeoff::detail::audit {

/// Which stream an event is expected to be more likely in.
enum class Order { with_over_without, without_over_with };

/// If the claim holds, every event has probability at most slope * (its probability in the other stream) + offset.
struct Line {
  double epsilon = 0;  ///< slope >= e^epsilon
  double slope = 1;    ///< has at most 26 significant bits, so that its product with another such number is exact
  double offset = 0;   ///< >= delta(epsilon) of the claim
};

struct Claim {
  std::array<std::vector<Line>, 2> lines;  ///< indexed by Order; slopes increase

  [[nodiscard]] const std::vector<Line>& of(Order order) const { return lines[static_cast<std::size_t>(order)]; }
};

/// The least double >= x > 0 with at most 26 significant bits.
[[nodiscard]] double coarse_above(double x);
/// The largest double <= x, x >= 0, with at most 26 significant bits.
[[nodiscard]] double coarse_below(double x);

/// The line of one epsilon >= 0, where delta(epsilon) <= delta.
[[nodiscard]] Line line_at(double epsilon, double delta);

/// The lines of a curve. For the direction `worst` both orders are held to the worse direction; otherwise the first stream is the first
/// data set of that direction, and the second order is held to the opposite one.
[[nodiscard]] Claim claim_of(const Curve& curve, Direction direction);

}  // namespace tradeoff::detail::audit
