// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/vocabulary.h"

namespace tradeoff::cli {

/// `; did you mean 'epsilon'?` for a name that is not known; nothing for one too long to be a name.
[[nodiscard]] inline std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  constexpr std::size_t longest_name = 40;
  if (given.size() > longest_name || known.empty()) return {};
  return "; did you mean '" + std::string(nearest_name(given, known)) + "'?";
}

}  // namespace tradeoff::cli
