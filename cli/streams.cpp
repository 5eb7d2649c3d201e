// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "progress.h"
#include "system.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::size_t plan_limit = 64U << 20;  // bytes; a longer plan is a mistake

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string read_all(int descriptor, const std::string& name) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError("cannot read " + name + ": " + std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > plan_limit) throw InputError(name + " is larger than 64 MiB");
  }
}

[[noreturn]] void refuse_directory(const std::string& path) { throw InputError(path + " is a directory, not a plan"); }

std::string read_file(const std::string& path) {
#if defined(O_NONBLOCK)
  constexpr int flags = O_RDONLY | plain_file | O_NONBLOCK;  // opening a pipe without a writer would block
#else
  constexpr int flags = O_RDONLY | plain_file;
#endif
  const File file(::open(path.c_str(), flags));
  if (file.descriptor() < 0) {
    const int reason = errno;
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) refuse_directory(path);  // Windows opens none
    throw InputError("cannot open " + path + ": " + std::strerror(reason));
  }
  struct stat status{};
  if (::fstat(file.descriptor(), &status) != 0) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse_directory(path);
  if (!S_ISREG(status.st_mode)) throw InputError(path + " is not a regular file; use - to read standard input");
  return read_all(file.descriptor(), path);
}

/// Removes the byte order mark that some editors write at the start of a file.
std::string without_mark(std::string text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

/// Writes the whole text. Returns 0 or an errno.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = write_some(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

void reserve_standard_streams() {
  // Opens each closed standard stream in the wrong mode, so that using it fails as if it were closed. open() returns the lowest free
  // number, so they are opened in order.
  for (const auto& [descriptor, way] : {std::pair(STDIN_FILENO, O_WRONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}})
    if (is_closed(descriptor)) static_cast<void>(::open(null_device, way));
}

void write_out(std::string_view text) {
  if (!text.empty()) Progress::clear();
  if (const int reason = write_all(STDOUT_FILENO, text); reason != 0)
    throw OutputError(std::string("cannot write to standard output: ") + std::strerror(reason));
}

void write_error(std::string_view text) noexcept {
  Progress::clear();
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void write_beside(std::string_view what, std::string_view text) {
  Progress::clear();
  if (const int reason = write_all(STDERR_FILENO, text); reason != 0)
    throw OutputError("cannot write " + std::string(what) + " to standard error: " + std::strerror(reason) + "; nothing was released");
}

std::size_t read_in(char* buffer, std::size_t capacity) {
  for (;;) {
    const ssize_t count = read_some(STDIN_FILENO, buffer, capacity);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw InputError(std::string("cannot read standard input: ") + std::strerror(errno));
  }
}

std::string read_plan_argument(const std::string& argument) {
  if (argument == "-") return without_mark(read_all(STDIN_FILENO, "standard input"));
  if (!argument.empty() && argument.front() == '@') return without_mark(read_file(argument.substr(1)));
  return argument;
}

}  // namespace tradeoff::detail::cli
