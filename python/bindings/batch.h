// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tradeoff::detail::python {

/// Calls `answer(begin, end)` for the pieces of [0, count), on as many threads as the machine has cores. The pieces do not depend on the
/// number of threads, and neither do answers that share their work within a piece. The first exception is rethrown after all threads have
/// stopped.
template <typename Answer>
void for_each_piece(std::size_t count, const Answer& answer) {
  constexpr std::size_t piece = 512;  // worth a thread even if a question takes a tenth of a microsecond
  const std::size_t pieces = (count + piece - 1) / piece;
  const std::size_t workers = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), pieces);
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    try {
      for (std::size_t begin = next.fetch_add(piece); begin < count; begin = next.fetch_add(piece))
        answer(begin, std::min(begin + piece, count));
    } catch (...) {
      const std::lock_guard hold(failure_lock);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The system grants no more threads; the existing ones do the work.
  }
  work();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tradeoff::detail::python
