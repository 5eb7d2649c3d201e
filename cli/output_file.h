// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tradeoff::detail::cli {

/// Writes the whole text to the file or throws OutputError. A reader sees the old file or the new one, never a part of it; after an error
/// no new file is left. Anything that is not a regular file (a terminal, a pipe, /dev/null) is written directly.
void write_file(const std::string& path, std::string_view text);

/// The same, but a newly created file is readable by its owner only.
void write_private_file(const std::string& path, std::string_view text);

/// Resolves symbolic links, so that the file is replaced and not the link. Returns the path itself if there is no such file.
[[nodiscard]] std::string target_of(const std::string& path);
/// Whether two paths name the same file, links followed.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

/// Writes to the named file, or to standard output if no file was named.
void write_result(const std::string* path, std::string_view text);

/// Creates the directory and its parents if they are missing. Throws OutputError.
void make_directory(const std::string& path);

}  // namespace tradeoff::detail::cli
