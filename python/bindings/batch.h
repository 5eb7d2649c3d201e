// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tradeoff::python {

/// Calls `answer(i)` for i < count, on as many threads as the machine has cores where that is worth it. The first exception is thrown
/// again, after all have stopped.
template <typename Answer>
void for_each_index(std::size_t count, const Answer& answer) {
  constexpr std::size_t chunk = 64;  // a question takes microseconds, so a chunk takes far longer than handing it out
  constexpr std::chrono::microseconds worth_a_thread{500};  // starting one costs about a tenth of that
  constexpr std::size_t probe = 8;
  std::size_t done = 0;
  for (bool cold = true; done < count; cold = false) {
    const auto start = std::chrono::steady_clock::now();
    for (const std::size_t end = std::min(done + probe, count); done < end; ++done) answer(done);
    const auto took = std::chrono::steady_clock::now() - start;
    // The first few wait for memory, which says little about the others, unless they are slow on any account.
    if (took / probe * (count - done) >= worth_a_thread && !(cold && took < worth_a_thread)) break;
  }
  if (done == count) return;
  const std::size_t chunks = (count - done + chunk - 1) / chunk;
  const std::size_t workers = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), chunks);
  std::atomic<std::size_t> next = done;
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    try {
      for (std::size_t begin = next.fetch_add(chunk); begin < count; begin = next.fetch_add(chunk))
        for (std::size_t i = begin; i < std::min(begin + chunk, count); ++i) answer(i);
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
    // The system grants no more threads; those there are do the work.
  }
  work();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tradeoff::python
