// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/density/powers.h"
#include "engine/part.h"

namespace tradeoff::detail {

/// Many runs of one mechanism whose loss has atoms on a lattice and a density between them, of which few are drawn from the density:
/// Laplace noise, whole or sampled. The atoms are listed, and powers of the density are polynomials on cells. Null for other parts.
/// [density-powers]
[[nodiscard]] LossPointer compose_by_density_powers(const Parts& parts, const density::Accuracy& accuracy = {});

/// The expected number of steps whose loss is drawn from a density of this kind, of all runs.
[[nodiscard]] double continuous_steps(const Parts& parts);

}  // namespace tradeoff::detail
