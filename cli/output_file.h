// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tradeoff::cli {

/// Writes the whole text to the file or throws OutputError: a reader sees the old file or the new one, never a part of it, and a refusal
/// leaves nothing behind. What is not a regular file (a terminal, a pipe, /dev/null) is written to as it is.
void write_file(const std::string& path, std::string_view text);

/// The same; only the owner may read a file that is made anew.
void write_private_file(const std::string& path, std::string_view text);

/// Where a chain of links leads to, so that the file it names is replaced and not the link; the path itself if there is no such file.
[[nodiscard]] std::string target_of(const std::string& path);
/// Whether two names mean one file, through links too.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

/// Writes to the file that was named, or to standard output if none was.
void write_result(const std::string* path, std::string_view text);

/// Makes the directory and those above it, unless they are there. Throws OutputError.
void make_directory(const std::string& path);

}  // namespace tradeoff::cli
