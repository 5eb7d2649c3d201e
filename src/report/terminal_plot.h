// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff::report {

/// A curve to draw: points with increasing x, the certified interval of y at each.
struct PlotSeries {
  std::string label;
  std::vector<std::pair<double, Interval>> points;
};

/// What the picture shows. Ranges are those of the data unless given.
struct PlotFrame {
  std::string title;
  std::string x_label;
  std::string y_label;
  int columns = 60;  ///< of the drawing itself; with its labels it stays below 80
  int rows = 16;
  bool logarithmic_y = false;
};

/// Draws with braille dots, two by four to a character, for a terminal of 80 columns. The band between the ends of the intervals is
/// drawn where it is visible. Points that cannot be drawn (infinite, or 0 on a logarithmic axis) are left out.
[[nodiscard]] std::string terminal_plot(const std::vector<PlotSeries>& series, const PlotFrame& frame);

}  // namespace tradeoff::report
