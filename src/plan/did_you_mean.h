// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/vocabulary.h"

namespace tradeoff::detail {

/// `; did you mean 'epsilon'?` for an unknown name; empty if no known name is close. `mark` is put before the name: "--".
[[nodiscard]] inline std::string did_you_mean(std::string_view given, std::span<const std::string_view> known, std::string_view mark = {}) {
  const std::string_view meant = nearest_name(given, known);
  return meant.empty() ? std::string() : "; did you mean '" + std::string(mark) + std::string(meant) + "'?";
}

}  // namespace tradeoff::detail
