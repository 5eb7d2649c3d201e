// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "tradeoff/interval.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::report {

/// The noise that a plan of one line adds to each value that it releases.
struct AddedNoise {
  double margin = 0;           ///< |noise| is above this with a probability of at most 5 %
  std::uint64_t releases = 1;  ///< how many values the line releases about the same people
};

/// Nothing unless the plan is one line of Gaussian, Laplace, discrete Gaussian or discrete Laplace noise, possibly truncated, followed by
/// `repeat` and `group` alone.
[[nodiscard]] std::optional<AddedNoise> added_noise(const Plan& plan);

}  // namespace tradeoff::detail::report
