// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff {

/// Composes any losses at all through their profiles alone: users' own curves, atoms next to densities, mixed sequences. Every loss is
/// put between two laws on a common lattice, and the laws are convolved by tilted transforms. The lattice is refined, query by query,
/// until the asked relative width is met or the budget (counted in readings and cells: two million cells, 300 MB, about two seconds) is
/// spent; then the interval is wider, and still valid. An epsilon is read off one lattice, both ends proved. [dominating-pair]
/// [dominated-pair] [tilted-fft]
[[nodiscard]] LossPointer compose_by_lattice(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff
