// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/picture.h"

namespace tradeoff::detail::report {

/// The figure as a PDF document of one page: the drawing of to_svg on white paper, in the fonts that every reader of PDF has.
[[nodiscard]] std::string to_pdf(const Figure& figure);

}  // namespace tradeoff::detail::report
