// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tradeoff::detail::report {

/// The text escaped for XML and HTML, in elements and in attributes; only printable characters.
[[nodiscard]] std::string escaped_markup(const std::string& text);

}  // namespace tradeoff::detail::report
