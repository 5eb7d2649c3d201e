// SPDX-License-Identifier: Apache-2.0
#include "stopwatch.h"

#include <array>
#include <charconv>

#include "report/claim.h"

namespace tradeoff::detail::cli {
namespace {

/// Two significant digits suffice.
std::string milliseconds(std::chrono::steady_clock::duration duration) {
  const double value = std::chrono::duration<double, std::milli>(duration).count();
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, value < 10 ? 1 : 0).ptr;
  return {buffer.data(), end};
}

}  // namespace

std::string Stopwatch::remark(Neighbours neighbours, const std::string& method) const {
  const std::string whose =
      neighbours == Neighbours::unstated ? "neighbours not stated" : std::string(report::to_word(neighbours)) + " neighbours";
  return whose + "; " + method + ", " + milliseconds(std::chrono::steady_clock::now() - start_) + " ms";
}

}  // namespace tradeoff::detail::cli
