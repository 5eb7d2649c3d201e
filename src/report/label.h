// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradeoff::detail::report {

/// The text as UTF-8 without control characters; each invalid byte becomes a question mark, so that a name cannot break the document.
[[nodiscard]] std::string printable(const std::string& text);
/// The same for each line; line breaks are kept.
[[nodiscard]] std::string printable_lines(const std::string& text);
/// Characters, not bytes.
[[nodiscard]] std::size_t length_of(const std::string& text);
/// At most this many characters; a shortened text ends with an ellipsis.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

/// Sets the text in lines of at most 80 columns with `indent` blanks before each; the first line starts in column `used`. A longer word
/// stays whole.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t used);

}  // namespace tradeoff::detail::report
