// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mechanism/loss.h"

namespace tradeoff {

/// A distinct loss of a plan and how often it is run. Equal losses have been merged before an engine sees them.
struct Part {
  LossPointer loss;
  std::uint64_t times = 1;
};
using Parts = std::vector<Part>;

}  // namespace tradeoff
