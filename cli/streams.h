// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tradeoff::detail::cli {

/// Standard output cannot be written: it is closed or full, or its reader has closed the pipe.
class OutputError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file, a directory or a stream that cannot be read.
class InputError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reserves the numbers of closed standard streams. Otherwise a file opened later could get such a number, and output for the standard
/// stream would be written into that file.
void reserve_standard_streams();

/// Writes the whole text or throws OutputError.
void write_out(std::string_view text);
/// Writes the text and ignores errors.
void write_error(std::string_view text) noexcept;
/// Writes a result to standard error, or throws OutputError that names it.
void write_beside(std::string_view what, std::string_view text);

/// Reads up to `capacity` bytes of standard input as soon as some are available; returns 0 at its end. Throws InputError.
[[nodiscard]] std::size_t read_in(char* buffer, std::size_t capacity);

/// The plan that an argument means: the text itself, `@file`, or `-` for standard input. Throws InputError.
[[nodiscard]] std::string read_plan_argument(const std::string& argument);

}  // namespace tradeoff::detail::cli
