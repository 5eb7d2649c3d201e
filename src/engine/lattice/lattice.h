// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Composes any losses using only their profiles: users' own curves, atoms and densities, mixed sequences. Every loss is enclosed between
/// two distributions on a common lattice, and these are convolved by tilted transforms. The lattice is refined for each question until the
/// requested relative width is reached or the budget (counted in evaluations and cells: two million cells, 300 MB, about two seconds) is
/// spent; then the interval is wider and still valid. Both ends of an epsilon are proved on one lattice. [dominating-pair] [dominated-pair]
/// [tilted-fft]
[[nodiscard]] LossPointer compose_by_lattice(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff::detail
