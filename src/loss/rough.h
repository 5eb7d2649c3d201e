// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// Whether fewer digits are requested than usual. The upper end of a decimal that was read may exceed the default by a unit.
[[nodiscard]] inline bool is_rough(Tolerance tolerance) { return tolerance.relative > 1.001 * Tolerance{}.relative; }

}  // namespace tradeoff::detail
