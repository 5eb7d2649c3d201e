// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "noise/drawn_noise.h"
#include "noise/grid_noise.h"

// The description of a release: `carry_out` draws exactly these instructions, and `charged_plan` is the plan that the accountant analyses.
// Neither reads the user's plan. [grid-release]
namespace tradeoff::detail::noise {

/// What noise is added to: the given values, or the sum or the count of the sampled records.
enum class Quantity { values, sum, count };

/// Which records are sampled: each independently with probability numerator / denominator, or exactly `size` of `of`.
struct Sampling {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 0;  ///< 0: exactly `size` of `of`
  std::uint64_t size = 0;
  std::uint64_t of = 0;
};

/// After the noise: clip to [low, high] steps and add Laplace noise again.
struct Rectification {
  std::int64_t low;
  std::int64_t high;
  GridNoise noise;
};

/// For each of `rows` rows, starting with `first_row`: sample the records, compute the exact values, add noise, and rectify. `runs` such
/// rows are charged: all rows, or one if each row concerns different people, or more if the plan allows more rows than were given.
struct Instruction {
  Quantity quantity = Quantity::values;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 1;
  std::uint64_t runs = 1;
  DrawnNoise noise;
  std::optional<Sampling> sampling;
  std::optional<Rectification> rectification;
  std::uint64_t group = 1;  ///< the charge is for the change of so many records together; the draws do not depend on it
};

/// The operators of the plan language that a release can carry out.
[[nodiscard]] std::vector<std::string_view> drawn_operators();

/// Throws UnsupportedError or DomainError with the reason if a plan cannot be drawn exactly as it would be charged.
[[nodiscard]] std::vector<Instruction> make_instructions(const Plan& plan, const ReleaseTerms& terms);

/// The plan that these instructions are charged as, in steps of the grid.
[[nodiscard]] Plan charged_plan(const std::vector<Instruction>& instructions);

/// The plan that would be charged without the rounding to a grid; the grid is unknown while the plan contains a `?`.
[[nodiscard]] Plan charged_plan(const Plan& plan, const ReleaseTerms& terms);

/// A text: the distribution, the exact parameters, and the number of draws.
[[nodiscard]] DrawnMechanism describe(const Instruction& instruction);

}  // namespace tradeoff::detail::noise
