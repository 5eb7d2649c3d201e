// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

// Code shared by the targets. Each target is one function that libFuzzer, or replay.cpp, calls with arbitrary bytes.
namespace tradeoff::detail::fuzz {

/// A violated property ends the program, which is how the fuzzer detects it.
inline void require(bool condition) {
  if (!condition) std::abort();
}

/// The first object of a target: no input may take more than 5 seconds of processor time; wall time would depend on the load.
class TimeLimit {
 public:
  TimeLimit() = default;
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() { require(std::clock() - start_ <= 5 * CLOCKS_PER_SEC); }

 private:
  std::clock_t start_ = std::clock();
};

[[nodiscard]] inline std::string_view to_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The text up to the mark, which is removed too; all of it if there is no mark.
[[nodiscard]] inline std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + mark.size());
  return taken;
}

}  // namespace tradeoff::detail::fuzz
