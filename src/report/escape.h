// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tradeoff::report {

/// The text as it may stand in XML and HTML, in elements and in attributes: printable, with its marks as entities.
[[nodiscard]] std::string escaped_markup(const std::string& text);

}  // namespace tradeoff::report
