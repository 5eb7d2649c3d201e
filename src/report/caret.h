// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradeoff::report {

/// The line of `text` that holds the byte at `offset`, and below it a caret under that byte. A long line is cut around the place.
[[nodiscard]] std::string point_at(std::string_view text, std::size_t offset);

}  // namespace tradeoff::report
