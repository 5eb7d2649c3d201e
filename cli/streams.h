// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tradeoff::cli {

/// Standard output cannot take what was written: closed, full, or its reader has gone.
class OutputError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file, a directory, a stream that cannot be read.
class InputError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Keeps the numbers of standard streams that are closed from being given to a file that is opened later: what is meant for standard
/// output must fail and not end up there.
void reserve_standard_streams();

/// Writes all of it or throws OutputError.
void write_out(std::string_view text);
/// Writes what it can; there is nobody to tell if it fails.
void write_error(std::string_view text) noexcept;
/// Writes a result to standard error, all of it, or throws OutputError that names it.
void write_beside(std::string_view what, std::string_view text);

/// Reads up to `capacity` bytes of standard input, as soon as some are there; 0 at its end. Throws InputError.
[[nodiscard]] std::size_t read_in(char* buffer, std::size_t capacity);

/// The plan that an argument means: the text itself, `@file`, or `-` for standard input. Throws InputError.
[[nodiscard]] std::string read_plan_argument(const std::string& argument);

}  // namespace tradeoff::cli
