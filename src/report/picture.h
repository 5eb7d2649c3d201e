// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tradeoff/interval.h"

// The content of a picture; svg.h and terminal_plot.h draw it. The same description always gives the same bytes.
namespace tradeoff::detail::report {

enum class Scale { linear, logarithmic };

/// An axis: its quantity and its range. An end that is not given is that of the data.
struct Axis {
  std::string label;  ///< the quantity with its symbol, and its unit if it has one
  Scale scale = Scale::linear;
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
};

/// The proved interval of y at one x.
struct Spot {
  double x;
  Interval y;
};

/// How the points are joined.
enum class Shape {
  line,     ///< straight lines, with a band between the ends of the intervals if it is wide enough to be seen
  steps,    ///< the value holds from its x to the next one
  markers,  ///< not joined
  area,     ///< everything between the ends of the intervals is shaded
};
enum class Stroke { solid, dashed, dotted };

inline constexpr std::size_t palette_size = 7;
inline constexpr std::size_t grey = palette_size;  ///< for curves that serve only for comparison

struct Series {
  std::string label = {};  ///< the text in the legend; empty: not listed
  std::vector<Spot> spots = {};
  Shape shape = Shape::line;
  Stroke stroke = Stroke::solid;
  std::optional<std::size_t> colour = std::nullopt;  ///< an index of the palette, or `grey`; by default the next free colour
};

/// One diagram. Points with an infinite or undefined coordinate are left out, and the line has a gap there; on a logarithmic axis the value
/// 0 is drawn below the range.
struct Picture {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  bool square = false;  ///< both axes have the same unit and the same length
};

/// Diagrams side by side, with a text description for readers who cannot see them.
struct Figure {
  std::string title;
  std::string description;
  std::vector<Picture> panels;
};

}  // namespace tradeoff::detail::report
