// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// Clips a numeric result to a public range and adds Laplace noise of scale (range)/epsilon. Its delta is at most that of the base and at
/// most that of the noise alone, so it is 0 from epsilon on. The range must not be chosen from the data. The base is refined first.
/// [clip-and-rectify]
[[nodiscard]] LossPointer rectify(LossPointer base, Interval epsilon);

}  // namespace tradeoff::detail
