// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "tradeoff/curve.h"

// The neighbouring relations by name.
namespace tradeoff::detail {

/// Every relation that can be stated.
inline constexpr std::array<std::pair<std::string_view, Neighbours>, 3> neighbours_words = {
    {{"add-remove", Neighbours::add_remove}, {"replace-one", Neighbours::replace_one}, {"zero-out", Neighbours::zero_out}}};

/// "add-remove", "replace-one", "zero-out" or "unstated".
[[nodiscard]] constexpr const char* to_word(Neighbours neighbours) {
  for (const auto& [word, value] : neighbours_words)
    if (value == neighbours) return word.data();
  return "unstated";
}

/// "add-remove, replace-one or zero-out".
[[nodiscard]] inline std::string all_neighbours_words() {
  std::string text;
  for (std::size_t i = 0; i < neighbours_words.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < neighbours_words.size() ? ", " : " or ").append(neighbours_words[i].first);
  return text;
}

}  // namespace tradeoff::detail
