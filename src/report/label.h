// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace tradeoff::report {

/// The text as UTF-8 without control characters: what is not is replaced by a question mark, so a name cannot break what holds it.
[[nodiscard]] std::string printable(const std::string& text);
/// The same for every line by itself: lines stay lines.
[[nodiscard]] std::string printable_lines(const std::string& text);
/// Characters, not bytes.
[[nodiscard]] std::size_t length_of(const std::string& text);
/// At most this many characters, the last one an ellipsis if some are missing.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

}  // namespace tradeoff::report
