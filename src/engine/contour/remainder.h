// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/part.h"

namespace tradeoff::detail {

/// The accuracies to aim at, relative to the answer. Every choice is valid.
struct RemainderAccuracy {
  double alias = 1e-13;
  double truncation = 2e-10;
};

/// A few steps whose losses have atoms and a density between them: what has at most one loss from a density is summed over the atoms, and
/// the transform of the rest decays fast enough for a straight contour. Null if a part has no transform or infinite losses, if there is a
/// plain Gaussian, and for too many atoms. [contour-remainder]
[[nodiscard]] LossPointer compose_by_remainder(const Parts& parts, const RemainderAccuracy& accuracy = {});

/// The expected number of losses that are drawn from a density. Empty if no loss is known to have both atoms and a density.
[[nodiscard]] std::optional<double> losses_from_densities(const Parts& parts);

}  // namespace tradeoff::detail
