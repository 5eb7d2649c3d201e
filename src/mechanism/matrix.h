// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The noise of a matrix mechanism, for operators that need more than its sensitivity.
struct MatrixNoise {
  std::uint64_t steps = 0;
  /// The least w with C_ij = 0 for i - j >= w, on the given numbers; empty if C is not lower triangular (a tree).
  std::optional<std::uint64_t> bandwidth;
  /// For each step, the mu of a record that takes part in this step alone: the norm of its column in units of the noise.
  std::function<std::vector<Interval>()> step_mus;
};

}  // namespace tradeoff::detail
