// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <type_traits>

// Work that may take too long runs in its own process, which the kernel ends on time.
namespace tradeoff::detail::breaker {

/// After this much processor time the process receives the signal; 0 removes the limit.
inline void limit_processor_time(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// The result of the function; empty if it throws or takes longer than this.
template <class Function>
[[nodiscard]] auto within(double seconds, const Function& function) -> std::optional<std::invoke_result_t<Function>> {
  using Result = std::invoke_result_t<Function>;
  static_assert(std::is_trivially_copyable_v<Result>);
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    limit_processor_time(seconds);
    int code = 1;
    try {
      const Result result = function();
      code = write(ends[1], &result, sizeof result) == static_cast<ssize_t>(sizeof result) ? 0 : 1;
    } catch (...) {
      // Returns no answer.
    }
    _exit(code);
  }
  close(ends[1]);
  Result result{};
  ssize_t got = 0;
  if (child > 0) {
    do got = read(ends[0], &result, sizeof result);
    while (got < 0 && errno == EINTR);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return got == static_cast<ssize_t>(sizeof result) ? std::optional(result) : std::nullopt;
}

}  // namespace tradeoff::detail::breaker
