// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "streams.h"
#include "system.h"

namespace tradeoff::detail::cli {
namespace {

constexpr mode_t usual_mode = 0666;  // before the umask is applied
constexpr mode_t private_mode = 0600;

[[noreturn]] void fail(const std::string& path, int reason) { throw OutputError("cannot write " + path + ": " + std::strerror(reason)); }

/// Writes and closes the file. Returns 0 or an errno.
int fill(int descriptor, std::string_view text, bool to_disk) {
  int reason = 0;
  while (!text.empty() && reason == 0) {
    const ssize_t count = write_some(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) reason = errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (reason == 0 && to_disk && flush_to_disk(descriptor) != 0) reason = errno;  // some file systems report a full disk only here
  if (::close(descriptor) != 0 && reason == 0) reason = errno;
  return reason;
}

/// Creates a file next to the target, under a name that no other process uses. A left-over file of a killed process does no harm.
std::pair<std::string, int> open_beside(const std::string& target, mode_t mode) {
  std::random_device random;
  for (;;) {
    const std::string name = target + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(random());
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | plain_file, mode);
    if (descriptor >= 0 || errno != EEXIST) return {name, descriptor};
  }
}

void write_new_file(const std::string& path, std::string_view text, mode_t mode) {
  if (path.empty()) throw OutputError("cannot write a file without a name");
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | plain_file);
    if (descriptor < 0) fail(path, errno);
    if (const int reason = fill(descriptor, text, false); reason != 0) fail(path, reason);
    return;
  }
  const std::string target = target_of(path);
  const auto [temporary, descriptor] = open_beside(target, mode);
  if (descriptor < 0) fail(path, errno);
  if (exists) set_permissions(descriptor, status.st_mode & 07777U);  // those of the old file
  int reason = fill(descriptor, text, true);
  if (reason == 0 && replace_file(temporary, target) != 0) reason = errno;
  if (reason == 0) return;
  ::unlink(temporary.c_str());
  fail(path, reason);
}

}  // namespace

std::string target_of(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, failed);
  return failed || found.empty() ? path : found.string();
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code failed;
  const std::filesystem::path first = std::filesystem::absolute(target_of(one), failed),
                              second = std::filesystem::absolute(target_of(other), failed);
  return first == second || std::filesystem::equivalent(one, other, failed);
}

void write_file(const std::string& path, std::string_view text) { write_new_file(path, text, usual_mode); }

void write_private_file(const std::string& path, std::string_view text) { write_new_file(path, text, private_mode); }

void write_result(const std::string* path, std::string_view text) {
  if (path == nullptr)
    write_out(text);
  else
    write_file(*path, text);
}

void make_directory(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) throw OutputError("cannot make the directory " + path + ": " + failed.message());
  if (!std::filesystem::is_directory(path, failed)) throw OutputError(path + " is not a directory");
}

}  // namespace tradeoff::detail::cli
