// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string>

// The calls that POSIX and Windows spell differently; the rest of the command line uses those that both have.
namespace tradeoff::detail::cli {

/// Part of the flags of every open(): the bytes of the file as they are, and not for programs that we start.
#if defined(_WIN32)
inline constexpr int plain_file = O_BINARY | O_NOINHERIT;
inline constexpr const char* null_device = "NUL";
#else
inline constexpr int plain_file = O_CLOEXEC;
inline constexpr const char* null_device = "/dev/null";
#endif

/// write() and read() of at most `most_at_once` bytes: Windows counts them with 32 bits.
inline constexpr std::size_t most_at_once = 1U << 30;
[[nodiscard]] inline ssize_t write_some(int descriptor, const char* data, std::size_t size) noexcept {
  return ::write(descriptor, data, static_cast<unsigned>(size < most_at_once ? size : most_at_once));
}
[[nodiscard]] inline ssize_t read_some(int descriptor, char* data, std::size_t size) noexcept {
  return ::read(descriptor, data, static_cast<unsigned>(size < most_at_once ? size : most_at_once));
}

/// Returns 0, or -1 with an errno.
[[nodiscard]] int flush_to_disk(int descriptor) noexcept;
/// Renames the file; one of the new name is replaced in one step. Returns 0, or -1 with an errno.
[[nodiscard]] int replace_file(const std::string& from, const std::string& to) noexcept;
/// Gives an open file these permissions, if the system allows it; Windows has none of this kind.
void set_permissions(int descriptor, mode_t mode) noexcept;
/// Whether a standard stream is closed.
[[nodiscard]] bool is_closed(int descriptor) noexcept;
/// Standard streams pass bytes as they are, and an output that nobody reads is an error of write(), not the end of the program.
void prepare_standard_streams() noexcept;

}  // namespace tradeoff::detail::cli
