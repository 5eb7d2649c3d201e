// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/arguments.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// Reads a table with two numbers per line, separated by a comma, a semicolon, a tab or spaces; `#` starts a comment, and a first line of
/// column names is skipped. Numbers are exact decimals. Throws ParseError or DomainError that names the file and the row.
[[nodiscard]] std::vector<std::pair<Number, Number>> read_table(const std::string& path);

/// Reads a lower triangular matrix, one row per line, all of it or its lower triangle only, and returns its lower triangle row by row.
/// Throws like `read_table`, also if an entry above the diagonal is not 0.
[[nodiscard]] std::vector<Number> read_lower_triangle(const std::string& path);

/// The rows of a call: of its argument `points`, or of the table in the file of its argument `file`.
[[nodiscard]] std::vector<std::pair<Interval, Interval>> rows_of(const Arguments& arguments);

}  // namespace tradeoff::detail
