// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/picture.h"

namespace tradeoff::detail::report {

/// A self-contained SVG document: no scripts, no fonts, no links. Colours that colour-blind readers can distinguish, light or dark as the
/// reader prefers, the panels side by side, the legend of each below it.
[[nodiscard]] std::string to_svg(const Figure& figure);

}  // namespace tradeoff::detail::report
