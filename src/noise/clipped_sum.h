// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// The integer core of tradeoff.torch: gradients of single examples become integers whose norm is checked, and integers are summed.
namespace tradeoff::detail::noise {

/// The gradients of a physical batch for one parameter: a row of `columns` values for each example, and where their integers are summed.
struct GradientRows {
  const float* values;
  std::size_t columns;
  std::int64_t* sums;
};

/// Counts of a batch. They depend on the data: show them to its owner only.
struct ClippedRows {
  std::uint64_t clipped = 0;
  std::uint64_t zeroed = 0;  ///< gradients that are not finite, or failed the check; they contribute nothing
};

/// The largest bound of a contribution. Integers up to here are exact floats, and so are their squares in double precision.
inline constexpr std::uint64_t largest_clip_bound = std::uint64_t{1} << 21;

/// Long gradients are scaled to this part of the bound, because norms and products are rounded.
inline constexpr double usual_aim = 1 - 0x1p-18;

/// Adds to the sums, for each example whose mask is not 0, integers whose squared norm over all parameters is at most bound^2: the gradient
/// in units of `step`, scaled down to the bound if it is longer, truncated. The check is in integers. What an example adds depends on its
/// own gradient only: not on its place, the other examples or the number of threads. A larger `aim`
/// than the usual one makes examples fail the check, for tests. Throws DomainError for a bound of 0 or above largest_clip_bound, or a step
/// that is not a power of two between 2^-60 and 2^60. [torch-step]
ClippedRows add_clipped_rows(std::span<const GradientRows> parameters, std::span<const std::uint8_t> mask, double step, std::uint64_t bound,
                             unsigned threads, double aim = usual_aim);

}  // namespace tradeoff::detail::noise
