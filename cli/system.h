// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#if defined(__APPLE__)
extern char** environ;  // no header of that system declares it
#endif

// The calls that Linux, macOS and Windows spell differently; the rest of the command line uses those that all have.
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
/// The folder of this program, or an empty path.
[[nodiscard]] std::filesystem::path own_folder();
#if !defined(_WIN32)
/// Both ends of a pipe that programs which we start do not inherit. Returns whether there is one.
[[nodiscard]] bool open_pipe(std::array<int, 2>& ends) noexcept;
#endif
/// Standard streams pass bytes as they are, and an output that nobody reads is an error of write(), not the end of the program.
void prepare_standard_streams() noexcept;

}  // namespace tradeoff::detail::cli
