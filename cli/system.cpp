// SPDX-License-Identifier: Apache-2.0
#include "system.h"

#include <cerrno>
#include <csignal>
#include <cstdio>

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>

#include <cstdint>
#endif

namespace tradeoff::detail::cli {

#if defined(_WIN32)

int flush_to_disk(int descriptor) noexcept { return ::_commit(descriptor); }

int replace_file(const std::string& from, const std::string& to) noexcept {
  if (::MoveFileExA(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0) return 0;
  const DWORD reason = ::GetLastError();
  errno = reason == ERROR_FILE_NOT_FOUND || reason == ERROR_PATH_NOT_FOUND ? ENOENT : EACCES;
  return -1;
}

void set_permissions(int, mode_t) noexcept {}

bool is_closed(int descriptor) noexcept { return ::_get_osfhandle(descriptor) < 0; }

std::filesystem::path own_folder() { return {}; }

void prepare_standard_streams() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) static_cast<void>(::_setmode(descriptor, O_BINARY));
}

#else

#if defined(__APPLE__)

/// fsync() leaves the bytes in the cache of the disk there; some file systems refuse more.
int flush_to_disk(int descriptor) noexcept { return ::fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : ::fsync(descriptor); }

std::filesystem::path own_folder() {
  std::uint32_t size = 0;
  ::_NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (::_NSGetExecutablePath(path.data(), &size) != 0) return {};
  std::error_code failed;
  return std::filesystem::canonical(path.c_str(), failed).parent_path();
}

bool open_pipe(std::array<int, 2>& ends) noexcept {
  if (::pipe(ends.data()) != 0) return false;
  for (const int end : ends) static_cast<void>(::fcntl(end, F_SETFD, FD_CLOEXEC));
  return true;
}

#else

int flush_to_disk(int descriptor) noexcept { return ::fsync(descriptor); }

std::filesystem::path own_folder() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
}

bool open_pipe(std::array<int, 2>& ends) noexcept { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }

#endif

int replace_file(const std::string& from, const std::string& to) noexcept { return ::rename(from.c_str(), to.c_str()); }

void set_permissions(int descriptor, mode_t mode) noexcept { static_cast<void>(::fchmod(descriptor, mode)); }

bool is_closed(int descriptor) noexcept { return ::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF; }

void prepare_standard_streams() noexcept {
  std::signal(SIGPIPE, SIG_IGN);  // if the reader has closed the pipe, write() then fails and we report it with an exit code
  std::signal(SIGXFSZ, SIG_IGN);  // the same for a file that has reached its size limit
}

#endif

}  // namespace tradeoff::detail::cli
