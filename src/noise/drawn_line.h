// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "noise/coin.h"
#include "noise/discrete_gaussian.h"
#include "noise/grid_noise.h"
#include "noise/truncated.h"
#include "tradeoff/release.h"

namespace tradeoff::noise {

using Sampler = std::variant<GridNoise, Truncated, DiscreteGaussian, Response>;

/// After the noise: clip to [low, high] steps and add Laplace noise again. [grid-release]
struct Rectification {
  std::int64_t low;
  std::int64_t high;
  GridNoise noise;
};

/// Which records take part before the sum is formed.
struct Participation {
  std::optional<Coin> coin;  ///< each by itself
  std::uint64_t size = 0;    ///< or exactly this many
  std::uint64_t of = 0;
};

/// One line of a plan, ready to be drawn and to be accounted for.
struct DrawnLine {
  Line accounted;  ///< the same line with exact parameters in steps
  DrawnMechanism terms;
  Sampler sampler;
  bool integers = false;  ///< the law lives on the grid, so values must as well
  std::optional<Rectification> rectification;
  std::optional<Participation> participation;
};

/// All lines of the plan, plans in parentheses included, in order. Throws UnsupportedError and DomainError.
[[nodiscard]] std::vector<DrawnLine> draw_lines(const Plan& plan, const ReleaseTerms& terms);

}  // namespace tradeoff::noise
