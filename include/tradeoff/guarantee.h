// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/interval.h"

namespace tradeoff {

/// (epsilon, delta)-DP: a guarantee that holds, one that is stated, or one that is asked for. Every pair of the two is of this type.
struct Guarantee {
  Interval epsilon;
  Interval delta;

  friend constexpr bool operator==(const Guarantee&, const Guarantee&) = default;
};

}  // namespace tradeoff
