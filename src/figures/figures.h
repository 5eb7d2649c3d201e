// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/picture.h"

// The figures of the papers that the program is built on, drawn again from certified curves.
namespace tradeoff::report {

/// How a figure is made. Every number in it comes from the library when it is drawn.
struct Recipe {
  std::string_view name;  ///< also of its file, without the ending
  std::string_view title;
  std::string_view source;  ///< whose figure it is
  std::string_view shows;   ///< what a reader sees and may conclude
  std::vector<Picture> (*draw)();
};

/// All of them: each paper is a file of its own and an entry in `recipes`.
[[nodiscard]] const std::vector<Recipe>& recipes();
[[nodiscard]] std::span<const Recipe> constraints_recipes();
[[nodiscard]] std::span<const Recipe> bridge_recipes();
[[nodiscard]] std::span<const Recipe> f_dp_recipes();

[[nodiscard]] Figure draw(const Recipe& recipe);

/// The page that shows these figures: what each is, and the command that makes it. Markdown.
[[nodiscard]] std::string gallery(const std::vector<Recipe>& shown);

}  // namespace tradeoff::report
