// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tradeoff::detail::cli {

/// A page of the documentation, written in Markdown, for a terminal of 80 columns: paragraphs and list items are set anew, formulas on
/// lines of their own stay apart, links become their text. A word longer than a line stays whole.
[[nodiscard]] std::string set_page(std::string_view markdown);

}  // namespace tradeoff::detail::cli
