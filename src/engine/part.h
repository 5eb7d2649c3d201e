// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mechanism/loss.h"

namespace tradeoff {

/// A distinct loss of a plan and how often it is run. Equal losses have been merged before an engine sees them.
struct Part {
  LossPointer loss;
  std::uint64_t times = 1;
};
using Parts = std::vector<Part>;

/// What is certain about the tail of all parts run on the same data. [tail-composition]
[[nodiscard]] inline Tail tail_of(const Parts& parts) {
  std::vector<std::pair<Tail, std::uint64_t>> tails;
  for (const Part& part : parts) tails.emplace_back(part.loss->tail(), part.times);
  return composed_tail(tails);
}

}  // namespace tradeoff
