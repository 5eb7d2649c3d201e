// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <variant>

#include "noise/coin.h"
#include "noise/discrete_gaussian.h"
#include "noise/grid_noise.h"
#include "noise/truncated.h"
#include "tradeoff/release.h"

namespace tradeoff::noise {

using Sampler = std::variant<GridNoise, Truncated, DiscreteGaussian, Response>;

/// Noise as it is drawn: an exact distribution on the multiples of 2^grid_exponent, and the sensitivity of the value it is added to.
struct DrawnNoise {
  Sampler sampler;
  int grid_exponent = 0;
  double sensitivity = 0;  ///< in steps, including the rounding of the inputs
  bool integers = false;   ///< the noise is on the grid, so the values must be too
};

/// The noise that a source of the plan states. Throws UnsupportedError and DomainError. [grid-release]
[[nodiscard]] DrawnNoise make_noise(const Call& source, const ReleaseTerms& terms);

/// The source that the accountant charges for this noise, in steps. Distribution and scale are read from the sampler itself.
[[nodiscard]] Call charged_source(const DrawnNoise& noise);

/// The same as text: distribution, grid, exact scale.
[[nodiscard]] DrawnMechanism describe(const DrawnNoise& noise);

/// The largest number of runs, and the largest whole number in a plan.
inline constexpr std::uint64_t most_times = 1'000'000'000'000;

[[nodiscard]] inline Interval step_of(int grid_exponent) { return Interval::exactly(std::ldexp(1.0, grid_exponent)); }

}  // namespace tradeoff::noise
