// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "noise/drawn_noise.h"

// What a release does, written down once: `carry_out` draws what these instructions say, and `charged_plan` is what the accountant is
// asked about. Neither reads the plan that the user wrote. [grid-release]
namespace tradeoff::noise {

/// What noise is added to: values as they were given, or the sum or the number of the records that take part.
enum class Quantity { values, sum, count };

/// Which records take part: each by itself with probability numerator / denominator, or exactly `size` of `of`.
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

/// For each of `rows` rows, starting with `first_row`: choose the records that take part, form the exact values, add noise, and rectify.
/// `runs` such rows are charged: all rows, or one if each row is of different people, or more if the plan allows more than were given.
struct Instruction {
  Quantity quantity = Quantity::values;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 1;
  std::uint64_t runs = 1;
  DrawnNoise noise;
  std::optional<Sampling> sampling;
  std::optional<Rectification> rectification;
  std::uint64_t group = 1;  ///< what is charged is the difference that so many records make together; it changes nothing that is drawn
};

/// Throws UnsupportedError or DomainError with the reason for a plan that cannot be drawn exactly as it would be charged.
[[nodiscard]] std::vector<Instruction> make_instructions(const Plan& plan, const ReleaseTerms& terms);

/// What these instructions cost, in the words of the plan language and in steps of the grid.
[[nodiscard]] Plan charged_plan(const std::vector<Instruction>& instructions);

/// What the instructions of this plan would cost, without the rounding to a grid, which is not known while the plan holds a `?`.
[[nodiscard]] Plan charged_plan(const Plan& plan, const ReleaseTerms& terms);

/// For people: the law, exact parameters, and how often.
[[nodiscard]] DrawnMechanism describe(const Instruction& instruction);

}  // namespace tradeoff::noise
