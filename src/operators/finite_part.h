// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// f = f' (x) f_{0, d}: a symmetric loss with infinite mass d is the composition of f_{0, d} and a loss f' without infinite mass.
struct FinitePart {
  Interval revealed;  ///< d
  LossPointer rest;   ///< of f': the loss given that it is finite
};

/// [berry-esseen] The split of a loss; one that is not symmetric enters by the symmetric pair below both its orders.
[[nodiscard]] FinitePart finite_part(LossPointer loss);

}  // namespace tradeoff::detail
