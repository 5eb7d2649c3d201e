// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff {

/// What `compose_exactly` makes of the parts, composed when something is first asked of it: the list of atoms of a plan whose questions are
/// answered more quickly by other means.
[[nodiscard]] LossPointer compose_exactly_when_asked(Parts parts, Tolerance tolerance);

}  // namespace tradeoff
