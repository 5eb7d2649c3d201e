// SPDX-License-Identifier: Apache-2.0
#include "row_reader.h"

#if !defined(_WIN32)
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>

#include "streams.h"
#include "system.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::size_t longest_line = 1'000'000;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The lines of a descriptor, and their numbers for errors.
class Lines {
 public:
  /// Adds what was read; an empty text is the end.
  void feed(std::string_view text) {
    if (text.empty()) ended_ = true;
    if (at_ > 0) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    buffer_.append(text);
  }
  /// The next line that is not empty, if it is complete.
  [[nodiscard]] std::optional<std::string_view> take() {
    for (;;) {
      std::size_t end = buffer_.find('\n', at_);
      if (end == std::string::npos) {
        if (!ended_ || at_ == buffer_.size()) return std::nullopt;
        end = buffer_.size();
      }
      const std::string_view line = std::string_view(buffer_).substr(at_, end - at_);
      at_ = std::min(end + 1, buffer_.size());
      ++number_;
      if (!std::all_of(line.begin(), line.end(), is_space)) return line;
    }
  }
  [[nodiscard]] bool is_too_long() const { return buffer_.size() - at_ > longest_line && buffer_.find('\n', at_) == std::string::npos; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  void restart() {
    buffer_.clear();
    at_ = 0;
    ended_ = false;
  }

 private:
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

[[noreturn]] void refuse(const std::string& option, const std::string& what) {
  throw InputError(option + ": " + what + "; no verdict is given");
}

void parse_row(std::string_view line, std::vector<double>& row, const std::string& option, std::uint64_t number) {
  row.clear();
  const char *at = line.data(), *end = line.data() + line.size();
  const auto bad = [&](const char* from) {
    const char* until = std::find_if(from, end, [](char c) { return c == ',' || is_space(c); });
    refuse(option, "line " + std::to_string(number) + ": '" + std::string(from, std::min(until, from + 40)) +
                       "' is not a finite number; a row is numbers separated by commas or blanks");
  };
  const auto skip = [&] {
    while (at != end && is_space(*at)) ++at;
  };
  for (skip(); at != end;) {
    const char* start = at;
    if (*at == '+') ++at;
    double value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value) || (after != end && *after != ',' && !is_space(*after))) bad(start);
    row.push_back(value);
    at = after;
    skip();
    if (at == end) return;
    if (*at != ',') continue;
    ++at;
    skip();
    if (at == end) bad(at);  // nothing after the comma
  }
}

void check_length(const Lines& lines, const std::string& option) {
  if (lines.is_too_long()) refuse(option, "line " + std::to_string(lines.number() + 1) + " is longer than 1 MB");
}

class FileRows final : public RowReader {
 public:
  FileRows(const std::string& path, std::string option) : option_(std::move(option)) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | plain_file);
    if (descriptor_ < 0) throw InputError(option_ + ": cannot read " + path + ": " + std::strerror(errno));
    struct stat about{};
    if (::fstat(descriptor_, &about) == 0 && S_ISDIR(about.st_mode)) {
      ::close(descriptor_);
      throw InputError(option_ + ": " + path + " is a directory");
    }
    if (S_ISREG(about.st_mode)) count();
  }
  ~FileRows() override { ::close(descriptor_); }

  bool next(std::vector<double>& row) override {
    for (;;) {
      if (const auto line = lines_.take()) {
        parse_row(*line, row, option_, lines_.number());
        return true;
      }
      if (lines_.ended()) return false;
      check_length(lines_, option_);
      fill();
    }
  }
  [[nodiscard]] std::optional<std::uint64_t> rows() const override { return rows_; }

 private:
  void fill() {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return;
    if (count < 0) refuse(option_, std::string("cannot be read: ") + std::strerror(errno));
    lines_.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
  /// Counts the rows, and goes back to the start.
  void count() {
    std::uint64_t found = 0;
    for (;;) {
      while (lines_.take()) ++found;
      if (lines_.ended()) break;
      check_length(lines_, option_);
      fill();
    }
    rows_ = found;
    lines_ = Lines();
    if (::lseek(descriptor_, 0, SEEK_SET) != 0) refuse(option_, "cannot be read again");
  }

  std::string option_;
  int descriptor_ = -1;
  Lines lines_;
  std::optional<std::uint64_t> rows_;
};

#if !defined(_WIN32)

class CommandRows final : public RowReader {
 public:
  using Clock = std::chrono::steady_clock;

  CommandRows(std::string command, std::string option, std::chrono::seconds patience)
      : command_(std::move(command)), option_(std::move(option)), patience_(patience), deadline_(Clock::now() + patience) {
    start();
  }
  ~CommandRows() override { stop(); }

  bool next(std::vector<double>& row) override {
    for (;;) {
      if (const auto line = lines_.take()) {
        parse_row(*line, row, option_, lines_.number());
        has_rows_ = true;
        return true;
      }
      if (lines_.ended()) {
        finish();
        start();
      }
      check_length(lines_, option_);
      fill();
    }
  }

 private:
  void start() {
    std::array<int, 2> ends{};
    if (!open_pipe(ends)) refuse(option_, "the command cannot be run: no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawnattr_setpgroup(&attributes, 0);  // a group of its own, so that all of it can be ended
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);  // the command ends when nobody reads
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    std::string shell = "/bin/sh", flag = "-c";
    std::array<char*, 4> words = {shell.data(), flag.data(), command_.data(), nullptr};
    const int failed = ::posix_spawn(&child_, shell.c_str(), &actions, &attributes, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    descriptor_ = ends[0];
    lines_.restart();
    has_rows_ = false;
    if (failed != 0) {
      child_ = 0;
      refuse(option_, "the command cannot be run");
    }
  }
  [[nodiscard]] int milliseconds_left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000));
  }
  [[noreturn]] void refuse_slow() {
    stop();
    refuse(option_, "the command was not done after " + std::to_string(patience_.count()) + " seconds (--seconds)");
  }
  void fill() {
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, milliseconds_left());
    if (ready == 0) refuse_slow();
    if (ready < 0 && errno == EINTR) return;
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return;
    if (count < 0) refuse(option_, "the output of the command cannot be read");
    lines_.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
  /// Waits for the end of the command, and checks that it was a good one.
  void finish() {
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(child_, &status, WNOHANG);
      if (ended == child_) break;
      if (ended < 0 && errno != EINTR) refuse(option_, "the command was lost");
      if (milliseconds_left() == 0) refuse_slow();
      ::poll(nullptr, 0, 1);
    }
    child_ = 0;
    ::close(descriptor_);
    descriptor_ = -1;
    if (!WIFEXITED(status)) refuse(option_, "the command was ended by signal " + std::to_string(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) refuse(option_, "the command failed with exit code " + std::to_string(WEXITSTATUS(status)));
    if (!has_rows_) refuse(option_, "the command ended without printing a row");
  }
  void stop() noexcept {
    if (child_ > 0) {
      ::kill(-child_, SIGKILL);
      while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
      }
      child_ = 0;
    }
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string command_;
  std::string option_;
  std::chrono::seconds patience_;
  Clock::time_point deadline_;
  pid_t child_ = 0;
  int descriptor_ = -1;
  Lines lines_;
  bool has_rows_ = false;
};

#endif

}  // namespace

std::unique_ptr<RowReader> read_rows_of_file(const std::string& path, const std::string& option) {
  return std::make_unique<FileRows>(path, option);
}

std::unique_ptr<RowReader> read_rows_of_command(const std::string& command, const std::string& option, std::chrono::seconds patience) {
#if defined(_WIN32)
  static_cast<void>(command);
  static_cast<void>(patience);
  throw InputError(option + ": this program for Windows cannot run commands; write their outputs to a file");
#else
  return std::make_unique<CommandRows>(command, option, patience);
#endif
}

}  // namespace tradeoff::detail::cli
