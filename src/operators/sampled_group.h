// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/part.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// [sampled-group] A group of records under Gaussian noise, some lines of it Poisson-sampled: each line is a pair of Gaussian mixtures, so
/// the group is known exactly and not only through the curve of one record. `leaving` of the `size` records are in the first data set only,
/// the others in the second only; under replace-one neighbours all of them are in both, with other values. Empty if a part is anything
/// else, or if none of them is sampled.
[[nodiscard]] std::optional<Parts> sampled_group(const Parts& parts, Neighbours neighbours, std::uint64_t size, std::uint64_t leaving);

/// For a larger group, or one that moves a single release further than this, every question would take too long.
inline constexpr std::uint64_t most_sampled_group = 16;
inline constexpr double most_sampled_shift = 24;

/// [sampled-group] The numbers of leaving records whose pairs cover every group of this size in both orders; all of them leave in the
/// first.
[[nodiscard]] std::vector<std::uint64_t> leaving_records(Neighbours neighbours, std::uint64_t size);

/// [sampled-group] The group from the compositions for each mix: the worst of them if additions and removals are mixed and, if the plan is
/// `one_group`, the first for a question about one kind of change. What is built on a group answers alike in both directions.
[[nodiscard]] LossPointer worst_of_group(std::vector<LossPointer> compositions, std::uint64_t size, bool one_group);

}  // namespace tradeoff::detail
