// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tradeoff::detail::test {

/// The command line of this build, or the one that TRADEOFF_TESTED_COMMAND names: a script that starts that of another machine (./test
/// arm).
inline std::string tested_command() {
  const char* other = std::getenv("TRADEOFF_TESTED_COMMAND");
  return other == nullptr ? TRADEOFF_COMMAND : other;
}

/// The result of a run of the command line.
struct Outcome {
  int code = -1;  ///< the exit code; -1 if it was killed, by us after `patience` or by a signal
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string input = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
  bool close_output = false;  ///< start with standard output closed
  std::chrono::seconds patience{60};
  std::string command = tested_command();
};

namespace detail {

[[noreturn]] inline void become(const std::vector<std::string>& arguments, const RunOptions& options, const int (&in)[2],
                                const int (&out)[2], const int (&err)[2]) {
  dup2(in[0], STDIN_FILENO);
  dup2(out[1], STDOUT_FILENO);
  dup2(err[1], STDERR_FILENO);
  for (const int descriptor : {in[0], in[1], out[0], out[1], err[0], err[1]}) close(descriptor);
  if (options.close_output) close(STDOUT_FILENO);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words = {const_cast<char*>(options.command.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(options.command.c_str(), words.data());
  _exit(127);
}

/// Moves the available bytes from the pipe to the text; false at its end.
inline bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace detail

/// Runs the built command with these arguments, writes the input to it and collects its output.
inline Outcome run_command(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  signal(SIGPIPE, SIG_IGN);
  int in[2], out[2], err[2];
  if (pipe(in) != 0 || pipe(out) != 0 || pipe(err) != 0) return {};
  const pid_t child = fork();
  if (child == 0) detail::become(arguments, options, in, out, err);
  for (const int descriptor : {in[0], out[1], err[1]}) close(descriptor);
  fcntl(in[1], F_SETFL, O_NONBLOCK);

  Outcome run;
  std::string_view left = options.input;
  bool writing = true, reading_out = true, reading_err = true;
  const int slowness = std::getenv("TRADEOFF_TESTED_COMMAND") == nullptr ? 1 : 30;  // an emulator takes up to thirty times as long
  const auto deadline = std::chrono::steady_clock::now() + slowness * options.patience;
  while ((reading_out || reading_err) && std::chrono::steady_clock::now() < deadline) {
    if (writing && left.empty()) {
      close(in[1]);
      writing = false;
    }
    pollfd watched[3] = {
        {writing ? in[1] : -1, POLLOUT, 0}, {reading_out ? out[0] : -1, POLLIN, 0}, {reading_err ? err[0] : -1, POLLIN, 0}};
    poll(watched, 3, 100);
    if (watched[0].revents != 0) {
      const ssize_t count = write(in[1], left.data(), left.size());
      if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
      if (count < 0 && errno != EAGAIN) left = {};
    }
    if (watched[1].revents != 0) reading_out = detail::drain(out[0], run.out);
    if (watched[2].revents != 0) reading_err = detail::drain(err[0], run.err);
  }
  if (writing) close(in[1]);
  close(out[0]);
  close(err[0]);
  if (reading_out || reading_err) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.code = WEXITSTATUS(status);
  return run;
}

}  // namespace tradeoff::detail::test
