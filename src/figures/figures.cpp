// SPDX-License-Identifier: Apache-2.0
#include "figures/figures.h"

namespace tradeoff::detail::report {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> joined;
    for (const std::span<const Recipe> some : {constraints_recipes(), bridge_recipes(), f_dp_recipes()})
      joined.insert(joined.end(), some.begin(), some.end());
    return joined;
  }();
  return all;
}

Figure draw(const Recipe& recipe) { return {std::string(recipe.title), std::string(recipe.shows), recipe.draw()}; }

std::string gallery(const std::vector<Recipe>& shown) {
  std::string text =
      "# Figures\n\n"
      "The figures of the papers that the program is built on, drawn again from certified curves. A line is the enclosure of the true\n"
      "curve, thinner than a pixel unless a band is drawn; what is only an estimate is dashed and says so. This page and its pictures are\n"
      "made by\n\n"
      "    tradeoff figures --out figures\n\n"
      "and a single one by the command below it. `tradeoff curve --format svg PLAN ...` draws such pictures of your own plans.\n";
  for (const Recipe& recipe : shown) {
    const std::string name(recipe.name), title(recipe.title);
    text.append("\n## ").append(title).append("\n\n![").append(title).append("](").append(name).append(".svg)\n\n");
    text.append(recipe.shows).append(" (").append(recipe.source).append(".)\n\n    tradeoff figures ").append(name).append("\n");
  }
  return text;
}

}  // namespace tradeoff::detail::report
