// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff {

/// A numeric result clipped to a public range, with Laplace noise of scale (range)/epsilon added: at most the base's delta and at most that
/// of the noise alone, so 0 from epsilon on. The range must not be chosen from the data. The base is refined first. [clip-and-rectify]
[[nodiscard]] LossPointer rectify(LossPointer base, Interval epsilon);

}  // namespace tradeoff
