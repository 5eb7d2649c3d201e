// SPDX-License-Identifier: Apache-2.0
#include "system.h"

#include <cerrno>
#include <csignal>
#include <cstdio>

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
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

void prepare_standard_streams() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) static_cast<void>(::_setmode(descriptor, O_BINARY));
}

#else

int flush_to_disk(int descriptor) noexcept { return ::fsync(descriptor); }

int replace_file(const std::string& from, const std::string& to) noexcept { return ::rename(from.c_str(), to.c_str()); }

void set_permissions(int descriptor, mode_t mode) noexcept { static_cast<void>(::fchmod(descriptor, mode)); }

bool is_closed(int descriptor) noexcept { return ::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF; }

void prepare_standard_streams() noexcept {
  std::signal(SIGPIPE, SIG_IGN);  // if the reader has closed the pipe, write() then fails and we report it with an exit code
  std::signal(SIGXFSZ, SIG_IGN);  // the same for a file that has reached its size limit
}

#endif

}  // namespace tradeoff::detail::cli
