// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/picture.h"

// The figures of the papers that the program implements, drawn from certified curves.
namespace tradeoff::detail::report {

/// How a figure is made. Every number in it is computed by the library when it is drawn.
struct Recipe {
  std::string_view name;  ///< also the name of its file, without the suffix
  std::string_view title;
  std::string_view source;  ///< the paper of the figure
  std::string_view shows;   ///< what the figure shows and what follows from it
  std::vector<Picture> (*draw)();
};

/// All figures: each paper is a file and an entry in `recipes`.
[[nodiscard]] const std::vector<Recipe>& recipes();
[[nodiscard]] std::span<const Recipe> constraints_recipes();
[[nodiscard]] std::span<const Recipe> bridge_recipes();
[[nodiscard]] std::span<const Recipe> f_dp_recipes();

[[nodiscard]] Figure draw(const Recipe& recipe);

/// The Markdown page that shows these figures: a description of each, and the command that makes it.
[[nodiscard]] std::string gallery(const std::vector<Recipe>& shown);

}  // namespace tradeoff::detail::report
