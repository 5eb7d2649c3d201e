// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "system.h"

namespace tradeoff::detail::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds(1);         // shorter work shows no line
constexpr auto interval = std::chrono::milliseconds(200);  // time between two updates of the line
constexpr std::size_t bar_width = 30;

/// State shared by both threads; the program has one progress line.
struct ProgressLine {
  std::mutex mutex;
  std::condition_variable ended;
  bool running = false;
  bool shown = false;
  std::size_t done = 0;
  std::size_t total = 0;
  std::string remark;
  Clock::time_point start;
  std::thread painter;
};

ProgressLine& line() {
  static ProgressLine one;
  return one;
}

void put(std::string_view text) {
  // If the terminal refuses the text, the error is ignored.
  if (write_some(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void erase(ProgressLine& one) {
  if (one.shown) put("\r\033[K");
  one.shown = false;
}

std::string text_of(const ProgressLine& one) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - one.start).count();
  const std::string time = std::to_string(seconds) + " s";
  if (one.total == 0) return "\rworking, " + time + " \033[K";
  const std::size_t filled = bar_width * one.done / one.total;
  return "\r[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] " + std::to_string(one.done) + " of " +
         std::to_string(one.total) + ", " + time + one.remark + " \033[K";
}

void paint(ProgressLine& one) {
  std::unique_lock lock(one.mutex);
  if (one.ended.wait_for(lock, patience, [&one] { return !one.running; })) return;
  do {
    put(text_of(one));
    one.shown = true;
  } while (!one.ended.wait_for(lock, interval, [&one] { return !one.running; }));
  erase(one);
}

bool can_be_shown() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

Progress::Progress(bool wanted) {
  if (!wanted || !can_be_shown()) return;
  ProgressLine& one = line();
  one.running = true;
  one.start = Clock::now();
  one.painter = std::thread([&one] { paint(one); });
}

Progress::~Progress() {
  ProgressLine& one = line();
  if (!one.painter.joinable()) return;
  {
    const std::lock_guard lock(one.mutex);
    one.running = false;
  }
  one.ended.notify_all();
  one.painter.join();
}

void Progress::report(std::size_t done, std::size_t total, const std::string& remark) {
  ProgressLine& one = line();
  const std::lock_guard lock(one.mutex);
  one.done = done;
  one.total = total;
  one.remark = remark;
}

void Progress::clear() {
  ProgressLine& one = line();
  const std::lock_guard lock(one.mutex);
  erase(one);
}

}  // namespace tradeoff::detail::cli
