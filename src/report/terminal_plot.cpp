// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_plot.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tradeoff::report {
namespace {

/// A grid of braille characters; dots are addressed from the lower left.
class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}
  [[nodiscard]] int width() const { return 2 * columns_; }
  [[nodiscard]] int height() const { return 4 * rows_; }
  void dot(int x, int y) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    // The bits of a braille cell run down its left column, then its right one; the lowest row was added later, hence 0x40 and 0x80.
    static constexpr std::array<std::array<std::uint8_t, 4>, 2> bits{{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};
    cells_[static_cast<std::size_t>((rows_ - 1 - y / 4) * columns_ + x / 2)] |=
        bits[static_cast<std::size_t>(x % 2)][static_cast<std::size_t>(y % 4)];
  }
  [[nodiscard]] std::string row(int r) const {
    std::string text;
    for (int c = 0; c < columns_; ++c) {
      const unsigned code = 0x2800U + cells_[static_cast<std::size_t>(r * columns_ + c)];
      text += static_cast<char>(0xE0U | (code >> 12U));
      text += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
      text += static_cast<char>(0x80U | (code & 0x3FU));
    }
    return text;
  }

 private:
  int columns_;
  int rows_;
  std::vector<std::uint8_t> cells_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Where the value lies on [0, size - 1].
  [[nodiscard]] int place(double value, int size) const {
    return high > low ? static_cast<int>(std::lround((value - low) / (high - low) * (size - 1))) : 0;
  }
};

std::string short_number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3).ptr;
  return {text.data(), end};
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

}  // namespace

std::string terminal_plot(const std::vector<PlotSeries>& series, const PlotFrame& frame) {
  const auto height_of = [&frame](double y) { return frame.logarithmic_y ? std::log10(y) : y; };
  const auto drawable = [&](double x, double y) { return std::isfinite(x) && std::isfinite(height_of(y)); };
  Range xs;
  Range ys;
  for (const PlotSeries& one : series) {
    for (const auto& [x, y] : one.points) {
      if (!drawable(x, y.lo) || !drawable(x, y.hi)) continue;
      xs.include(x);
      ys.include(height_of(y.lo));
      ys.include(height_of(y.hi));
    }
  }
  if (!(xs.low < xs.high)) return frame.title + "\n(nothing to draw)\n";
  Canvas canvas(frame.columns, frame.rows);
  for (const PlotSeries& one : series) {
    int last_x = -1;
    int last_y = 0;
    for (const auto& [x, y] : one.points) {
      if (!drawable(x, y.lo) || !drawable(x, y.hi)) continue;
      const int column = xs.place(x, canvas.width());
      const int low = ys.place(height_of(y.lo), canvas.height());
      const int high = ys.place(height_of(y.hi), canvas.height());
      for (int row = low; row <= high; ++row) canvas.dot(column, row);
      // A line from the last point, so that steep parts have no gaps.
      if (last_x >= 0) {
        const int steps = std::max(std::abs(column - last_x), std::abs(high - last_y));
        for (int i = 1; i < steps; ++i) canvas.dot(last_x + (column - last_x) * i / steps, last_y + (high - last_y) * i / steps);
      }
      last_x = column;
      last_y = high;
    }
  }
  const auto tick = [&](double height) { return short_number(frame.logarithmic_y ? std::pow(10, height) : height); };
  constexpr std::size_t margin = 9;
  std::string text = frame.title.empty() ? "" : "  " + frame.title + "\n";
  text += "  " + frame.y_label + "\n";
  for (int row = 0; row < frame.rows; ++row) {
    const bool top = row == 0;
    const bool bottom = row == frame.rows - 1;
    const bool middle = row == frame.rows / 2;
    const double height = ys.high + (ys.low - ys.high) * (top ? 0.0 : bottom ? 1.0 : 0.5);
    text += padded(top || middle || bottom ? tick(height) : "", margin) + " │" + canvas.row(row) + "\n";
  }
  text += std::string(margin + 1, ' ') + "└";
  for (int i = 0; i < frame.columns; ++i) text += "─";
  const std::string left = short_number(xs.low);
  const std::string right = short_number(xs.high);
  const std::size_t room = static_cast<std::size_t>(frame.columns);
  std::string axis(room, ' ');
  axis.replace(0, left.size(), left);
  axis.replace(room - right.size(), right.size(), right);
  if (frame.x_label.size() + left.size() + right.size() + 4 < room)
    axis.replace((room - frame.x_label.size()) / 2, frame.x_label.size(), frame.x_label);
  text += "\n" + std::string(margin + 2, ' ') + axis + "\n";
  return text;
}

}  // namespace tradeoff::report
