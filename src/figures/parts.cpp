// SPDX-License-Identifier: Apache-2.0
#include "figures/parts.h"

#include <algorithm>
#include <utility>

#include "tradeoff/analyze.h"

namespace tradeoff::detail::report {

Curve curve_of(const std::string& plan) { return analyze(parse(plan)); }

std::string digits_of(double value) { return exact_number(value).text; }

Series styled(Series series, std::size_t colour, Stroke stroke) {
  series.colour = colour;
  series.stroke = stroke;
  return series;
}

Series larger_of(std::string label, const Series& a, const Series& b) {
  Series larger{std::move(label)};
  for (std::size_t i = 0; i < std::min(a.spots.size(), b.spots.size()); ++i) {
    const Interval one = a.spots[i].y, other = b.spots[i].y;
    larger.spots.push_back({a.spots[i].x, {std::max(one.lo, other.lo), std::max(one.hi, other.hi)}});
  }
  return larger;
}

Series region_of(std::string label, const Series& tradeoff, std::size_t colour) {
  Series region{std::move(label), {}, Shape::area, Stroke::solid, colour};
  for (const auto& [alpha, beta] : tradeoff.spots) region.spots.push_back({alpha, {std::min(beta.lo, 1 - alpha), 1 - alpha}});
  return region;
}

Series straight(std::string label, double offset, double slope) {
  return {std::move(label), {{0, Interval::exactly(offset)}, {1, Interval::exactly(offset - slope)}}};
}

}  // namespace tradeoff::detail::report
