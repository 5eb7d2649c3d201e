// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tradeoff/release.h"

namespace tradeoff::detail::cli {

/// Rows with the same number of values each.
struct Table {
  std::vector<double> values;
  std::uint64_t rows = 0;
  std::uint64_t columns = 1;
  std::string header;               ///< the first line, if it names the columns
  std::vector<std::string> labels;  ///< of the rows, as they were written; empty without labels
};

/// What a table has besides its values.
struct Layout {
  bool labels = false;  ///< the first cell of each row is its label, in quotation marks if it contains a comma
  bool header = false;  ///< the first line names the columns; it contains no number
};

/// Reads decimals separated by commas, one row per line; blank lines are skipped. A decimal beyond the largest double becomes the largest
/// double, which is clipped or refused like any other value. If `exact`, a value must be exactly a double, unless it is outside the bounds
/// and will be clipped. Throws ask::RequestError that names the line and the value.
[[nodiscard]] Table read_table_of_values(std::string_view text, bool exact, const std::optional<Bounds>& clipped_to = std::nullopt,
                                         Layout layout = {});

/// Reads `user,key` or `user,key,count` in each line; blank lines are skipped, cells are taken as they are. Throws ask::RequestError that
/// names the line.
[[nodiscard]] std::vector<KeyRow> read_keys(std::string_view text);

/// Reads standard input to its end.
[[nodiscard]] std::string read_all_input();

/// The exponent of a step that is a power of two: `1`, `0.25`, `2^-20`. Throws ask::RequestError.
[[nodiscard]] int read_grid(std::string_view text);

/// The nearest double. Throws ask::RequestError.
[[nodiscard]] double read_double(std::string_view field, const std::string& text);

}  // namespace tradeoff::detail::cli
