// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loss/break_points.h"
#include "loss/transform.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// The transform of the symmetric pair that rho-zCDP implies, on a sample of the records; rate 1 for the whole data. Null if rho or the
/// rate is too wide or too extreme. [zcdp-transform]
[[nodiscard]] std::unique_ptr<const Transform> zcdp_transform(Interval rho, Interval rate, SampledBy sampling, Direction direction);

/// The same without the rarest large losses (and, for a sample of fixed size, their mirror images), of a probability of about `rare`. They
/// count as an infinite mass that lies between 0 and their probability. The direction add of a Poisson sample has bounded losses: nothing
/// is left out. Null as above. [cut-contour]
[[nodiscard]] std::unique_ptr<const Transform> cut_zcdp_transform(Interval rho, Interval rate, SampledBy sampling, Direction direction,
                                                                  double rare);

}  // namespace tradeoff::detail
