// SPDX-License-Identifier: Apache-2.0
#include "mechanism/loss.h"

#include "numeric/arithmetic.h"

namespace tradeoff {

Interval Loss::log_delta(Direction direction, Interval epsilon) const { return log(delta(direction, epsilon)); }

Interval Loss::infinite_mass(Direction direction) const { return delta(direction, Interval::exactly(infinity)); }

}  // namespace tradeoff
