// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// What the errors of an answer may be, relative to delta, and how coarse the nodes are. Every choice is valid; the defaults give ten
/// digits.
struct RareAccuracy {
  double bulk = 1e-10;        ///< a part that is only bounded
  double truncation = 1e-12;  ///< the nodes that are left out
  double alias = 1e-12;       ///< of the sum over the nodes
  double quadrature = 1e-14;  ///< of the transform of the bulk, after the power
  double coarseness = 1;      ///< of the nodes of the noise
};

/// Composes Poisson-sampled Gaussians where rare large losses spoil other contours: a smooth window splits the law into runs with small
/// losses only and runs with at least one large loss, and each part is inverted, or bounded if it is negligible. Remove direction and
/// epsilon >= 0; all other questions are left to other methods. Null for other parts. [rare-losses]
[[nodiscard]] LossPointer compose_by_rare_losses(const Parts& parts, const RareAccuracy& accuracy = {});

}  // namespace tradeoff::detail
