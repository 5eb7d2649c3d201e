// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tradeoff::detail::cli {

/// Rows of finite numbers, separated by commas or blanks, one row a line; empty lines are skipped. They are read as they are needed.
class RowReader {
 public:
  RowReader() = default;
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;

  /// Reads the next row; false at the end. Throws InputError for a line that is not a row, a command that fails, and one that is too slow.
  [[nodiscard]] virtual bool next(std::vector<double>& row) = 0;
  /// The number of rows, if it is known before they are read.
  [[nodiscard]] virtual std::optional<std::uint64_t> rows() const { return std::nullopt; }
};

/// `option` names the reader in errors. Throws InputError.
[[nodiscard]] std::unique_ptr<RowReader> read_rows_of_file(const std::string& path, const std::string& option);

/// The outputs of a command of the shell. A command that ends without an error is run again: each run may print one row or many. A run
/// without any row, an exit code other than 0, and a run that is not done `patience` after the first start are errors.
[[nodiscard]] std::unique_ptr<RowReader> read_rows_of_command(const std::string& command, const std::string& option,
                                                              std::chrono::seconds patience);

}  // namespace tradeoff::detail::cli
