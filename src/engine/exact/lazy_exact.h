// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"

namespace tradeoff::detail {

/// `compose_exactly`, evaluated at the first question: the list of atoms of a plan that other methods usually answer faster.
[[nodiscard]] LossPointer compose_exactly_when_asked(Parts parts, Tolerance tolerance);

}  // namespace tradeoff::detail
