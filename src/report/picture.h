// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tradeoff/interval.h"

// What a picture shows, said once; svg.h and terminal_plot.h draw it. The same description always gives the same bytes.
namespace tradeoff::report {

enum class Scale { linear, logarithmic };

/// What an axis measures and from where to where. An end that is not given is that of the data.
struct Axis {
  std::string label;  ///< the quantity with its symbol, and its unit if it has one
  Scale scale = Scale::linear;
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
};

/// What is certain about y at one x.
struct Spot {
  double x;
  Interval y;
};

/// How the spots are joined.
enum class Shape {
  line,     ///< straight from one to the next; a band between the ends of the intervals where it is wide enough to be seen
  steps,    ///< the value holds from its x to the next one
  markers,  ///< not at all
  area,     ///< everything between the ends of the intervals is shaded
};
enum class Stroke { solid, dashed, dotted };

inline constexpr std::size_t palette_size = 7;
inline constexpr std::size_t grey = palette_size;  ///< for what is only there to compare with

struct Series {
  std::string label = {};  ///< in the legend; an empty one is not listed
  std::vector<Spot> spots = {};
  Shape shape = Shape::line;
  Stroke stroke = Stroke::solid;
  std::optional<std::size_t> colour = std::nullopt;  ///< of the palette, or `grey`; by default the next one that is free
};

/// One diagram. Spots with an infinite or undefined coordinate are left out, and the line has a gap there; a value of 0 lies below
/// everything on a logarithmic axis.
struct Picture {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  bool square = false;  ///< both axes measure the same, so they get the same length
};

/// Diagrams side by side, and what they show for those who cannot see them.
struct Figure {
  std::string title;
  std::string description;
  std::vector<Picture> panels;
};

}  // namespace tradeoff::report
