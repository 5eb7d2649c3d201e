// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loss/loss.h"
#include "tradeoff/approximate.h"

namespace tradeoff::detail {

/// The public function for a loss.
[[nodiscard]] Approximations approximate(const Loss& loss, std::size_t pieces);

/// [lattice-tangents] The tangents with slopes exp(i * step), i = 0..count: below any symmetric curve, and k-fold composition stays on the
/// lattice. delta at infinity is that of the steepest.
[[nodiscard]] std::vector<Guarantee> lattice_tangents(const Loss& loss, Interval step, std::size_t count);

/// [lattice-chords] The chords between the points of a smooth symmetric curve where its slope is exp(i * step), i = 0..count, and its ends:
/// above the curve.
[[nodiscard]] std::vector<Guarantee> lattice_chords(const Loss& loss, Interval step, std::size_t count);

/// The public function for a loss. [lattice-chords]
[[nodiscard]] Interval composed_between_polygons(const LossPointer& loss, std::size_t pieces, std::uint64_t times, Interval epsilon);

}  // namespace tradeoff::detail
