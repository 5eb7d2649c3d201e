// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "engine/exact/law.h"

namespace tradeoff::detail::exact {

/// The size of the distribution of `times` independent draws.
[[nodiscard]] Size power_size(const Atoms& atoms, std::uint64_t times);

/// The distribution of `times` independent draws from the finite part of the atoms, normalised to total mass 1 [exact-composition].
[[nodiscard]] Law power(const Atoms& atoms, std::uint64_t times);

/// The same where all losses are multiples of a step from the smallest on, cell by cell: what is less probable than `least`, about, is left
/// out and counted as lost. Empty if there is no such step. [averaged-counts]
[[nodiscard]] std::optional<Law> lattice_power(const Atoms& atoms, std::uint64_t times, Wide least);

/// About how many cells of it are probable; infinite if there is no such step.
[[nodiscard]] double lattice_cells(const Atoms& atoms, std::uint64_t times);

}  // namespace tradeoff::detail::exact
