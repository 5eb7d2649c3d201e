// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff {

/// A symmetric loss that reveals everything with some probability is that chance beside another loss, which never does: f = f' (x) f_{0,
/// d}.
struct FinitePart {
  Interval revealed;  ///< d
  LossPointer rest;   ///< of f': the loss given that it is finite
};

/// [berry-esseen] The split of a loss; one that is not symmetric enters by the symmetric pair below both its orders.
[[nodiscard]] FinitePart finite_part(LossPointer loss);

}  // namespace tradeoff
