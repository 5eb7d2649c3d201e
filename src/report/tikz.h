// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/picture.h"

namespace tradeoff::detail::report {

/// The figure in TikZ, for a document that loads the package pgfplots. Coordinates are those of the data, so that it can be edited.
[[nodiscard]] std::string to_tikz(const Figure& figure);

}  // namespace tradeoff::detail::report
