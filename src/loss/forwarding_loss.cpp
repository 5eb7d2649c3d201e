// SPDX-License-Identifier: Apache-2.0
#include "loss/forwarding_loss.h"

#include <utility>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {

/// The fields of a tail hold for both directions, except its limit.
Tail ForwardingLoss::tail() const {
  Tail tail = base().tail();
  if (order_ == Order::same) return tail;
  if (tail.limit.lo < infinity) tail.limit = {0, Tail::nothing};
  std::swap(tail.largest.remove, tail.largest.add);
  return tail;
}

std::string ForwardingLoss::key() const {
  const std::string inner = base().key();
  return inner.empty() || order_ == Order::same ? inner : "inverse(" + inner + ")";
}

Capabilities ForwardingLoss::capabilities(Direction direction) const {
  Capabilities known = base().capabilities(to_base(direction));
  if (known.closed_forms != nullptr) known.closed_forms = this;
  if (known.break_points != nullptr) known.break_points = this;
  if (known.evaluable != nullptr) known.evaluable = this;
  if (order_ == Order::swapped) {  // these fields hold for both directions at once
    known.sampled.reset();
    known.mixture = nullptr;
    known.group_sides = nullptr;
    known.bracket = nullptr;
    known.contours = nullptr;
    known.batch = nullptr;
    known.truncation = nullptr;
    known.adaptive = nullptr;
    known.moved = nullptr;
  }
  return known;
}

void ForwardingLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  for (Evaluation& one : evaluations_of(base(), to_base(direction), epsilon)) {
    one.direction = to_base(one.direction);  // the mapping is its own inverse
    found.push_back(std::move(one));
  }
  note();
}

}  // namespace tradeoff::detail
