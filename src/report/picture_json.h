// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/picture.h"

namespace tradeoff::detail::report {

/// The description of a picture for other drawing programs: the axes, and each series as arrays `x`, `lo`, `hi` with null at a gap.
[[nodiscard]] std::string to_json(const Picture& picture);

}  // namespace tradeoff::detail::report
