// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// Finite distributions that compose to a short list of atoms, and one run of one other loss whose profile is a formula: the profile of
/// the other loss, averaged over the atoms. Null for other parts. [averaged-profile]
[[nodiscard]] LossPointer compose_by_average(const Parts& parts, Tolerance tolerance);

/// One run of a finite distribution beside any other loss, which is asked once for each atom. [averaged-profile]
[[nodiscard]] LossPointer averaged_over(LossPointer finite, LossPointer other);

}  // namespace tradeoff::detail
