// SPDX-License-Identifier: Apache-2.0
#include "witness.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <array>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <vector>

#include "numeric/number_text.h"
#include "streams.h"
#include "system.h"

namespace tradeoff::detail::cli {

#if defined(_WIN32)

Testimony ask_witness(std::string_view, const Options&, Interval) {
  throw InputError("--paranoid: there is no tradeoff-witness for Windows; leave --paranoid out");
}

#else

namespace {

/// Looks next to this program, then in PATH.
std::string find_witness() {
  const std::filesystem::path here = own_folder();
  const std::filesystem::path beside = here / "tradeoff-witness";
  if (!here.empty() && ::access(beside.c_str(), X_OK) == 0) return beside.string();
  return "tradeoff-witness";
}

std::vector<std::string> arguments_of(std::string_view verb, const Options& options, Interval answer) {
  std::vector<std::string> words{find_witness(), std::string(verb)};
  for (const auto& [option, value] : options.values)
    for (const std::string_view known : {"epsilon", "delta", "direction", "neighbours"})
      if (option->name == known) {
        words.push_back("--" + std::string(known));
        words.push_back(value);
      }
  const double infinity = std::numeric_limits<double>::infinity();
  words.insert(words.end(), {"--confirm", numeric::to_text_below(answer.lo),
                             answer.hi == infinity ? "inf" : numeric::to_text_above(answer.hi), options.plan});
  return words;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
      return text;
  }
}

}  // namespace

Testimony ask_witness(std::string_view verb, const Options& options, Interval answer) {
  std::vector<std::string> words = arguments_of(verb, options, answer);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  std::array<int, 2> ends{};
  if (!open_pipe(ends)) throw InputError("cannot run the witness: no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words.front().c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    throw InputError("--paranoid: the program tradeoff-witness is not installed; without it leave --paranoid out");
  }
  Testimony testimony{Testimony::Verdict::undecided, read_all(ends[0])};
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) testimony.verdict = Testimony::Verdict::confirmed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) testimony.verdict = Testimony::Verdict::contradicted;
  return testimony;
}

#endif

}  // namespace tradeoff::detail::cli
