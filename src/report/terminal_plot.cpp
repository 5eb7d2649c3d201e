// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/label.h"
#include "report/ruler.h"

namespace tradeoff::detail::report {
namespace {

/// A grid of braille characters, some of them replaced by letters; dots are addressed from the lower left.
class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns),
        rows_(rows),
        cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)),
        letters_(cells_.size(), '\0') {}
  [[nodiscard]] int width() const { return 2 * columns_; }
  [[nodiscard]] int height() const { return 4 * rows_; }
  void dot(int x, int y) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    // The bits of a braille cell go down its left column, then its right one; the lowest row was added later, hence 0x40 and 0x80.
    static constexpr std::array<std::array<std::uint8_t, 4>, 2> bits{{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};
    cells_[cell(x, y)] |= bits[static_cast<std::size_t>(x % 2)][static_cast<std::size_t>(y % 4)];
  }
  /// Replaces the character that contains this dot; an existing letter stays.
  void letter(int x, int y, char which) {
    if (x >= 0 && y >= 0 && x < width() && y < height() && letters_[cell(x, y)] == '\0') letters_[cell(x, y)] = which;
  }
  [[nodiscard]] int x_of(double place) const { return static_cast<int>(std::lround(place * (width() - 1))); }
  [[nodiscard]] int y_of(double place) const { return static_cast<int>(std::lround(place * (height() - 1))); }
  [[nodiscard]] int row_of(double place) const { return rows_ - 1 - y_of(place) / 4; }
  [[nodiscard]] std::string row(int r) const {
    std::string text;
    for (int c = 0; c < columns_; ++c) {
      const std::size_t at = cell(2 * c, 4 * (rows_ - 1 - r));
      const unsigned code = 0x2800U + cells_[at];
      if (letters_[at] != '\0') {
        text += letters_[at];
        continue;
      }
      text += static_cast<char>(0xE0U | (code >> 12U));
      text += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
      text += static_cast<char>(0x80U | (code & 0x3FU));
    }
    return text;
  }

 private:
  [[nodiscard]] std::size_t cell(int x, int y) const {
    return static_cast<std::size_t>(rows_ - 1 - y / 4) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x / 2);
  }

  int columns_;
  int rows_;
  std::vector<std::uint8_t> cells_;
  std::vector<char> letters_;
};

void draw_line(Canvas& canvas, const std::vector<Position>& line, Stroke stroke) {
  const int period = stroke == Stroke::solid ? 1 : stroke == Stroke::dashed ? 6 : 4;
  const int drawn = stroke == Stroke::dotted ? 1 : stroke == Stroke::dashed ? 4 : 1;
  int phase = 0;
  for (const std::vector<Position>& part : clip_line(line)) {
    for (std::size_t i = 1; i < part.size(); ++i) {
      const int x = canvas.x_of(part[i - 1].x), y = canvas.y_of(part[i - 1].y);
      const int wide = canvas.x_of(part[i].x) - x, high = canvas.y_of(part[i].y) - y;
      const int steps = std::max({std::abs(wide), std::abs(high), 1});
      for (int k = 0; k <= steps; ++k) {
        if (phase % period < drawn) canvas.dot(x + wide * k / steps, y + high * k / steps);
        if (k < steps && (wide != 0 || high != 0)) ++phase;
      }
    }
  }
}

/// Dots between the ends of the intervals: a sparse grid for an area, every other dot for a band that is wider than a line.
void shade(Canvas& canvas, const std::vector<Vertex>& run, bool dense) {
  for (std::size_t i = 1; i < run.size(); ++i) {
    const Vertex &from = run[i - 1], &to = run[i];
    if (!(to.x > from.x) || from.x > 1 || to.x < 0) continue;
    for (int x = canvas.x_of(std::max(from.x, 0.0)); x <= canvas.x_of(std::min(to.x, 1.0)); ++x) {
      const double t = std::clamp((static_cast<double>(x) / (canvas.width() - 1) - from.x) / (to.x - from.x), 0.0, 1.0);
      const double bottom = from.low + t * (to.low - from.low), top = from.high + t * (to.high - from.high);
      if (top < 0 || bottom > 1) continue;
      const int low = canvas.y_of(std::max(bottom, 0.0)), high = canvas.y_of(std::min(top, 1.0));
      for (int y = low; y <= high; ++y) {
        if ((dense && high > low + 1 && (x + y) % 2 == 0) || (!dense && x % 4 == 0 && y % 4 == 0)) canvas.dot(x, y);
      }
    }
  }
}

void draw(Canvas& canvas, const Series& series, const Rulers& rulers) {
  for (const std::vector<Vertex>& run : runs_of(series, rulers)) {
    std::vector<Position> low, high;
    for (const Vertex& v : run) {
      low.push_back({v.x, v.low});
      high.push_back({v.x, v.high});
      if (series.shape == Shape::markers && v.x >= 0 && v.x <= 1 && v.low >= 0 && v.high <= 1)
        canvas.letter(canvas.x_of(v.x), canvas.y_of((v.low + v.high) / 2), 'o');
    }
    if (series.shape == Shape::markers) continue;
    shade(canvas, run, series.shape != Shape::area);
    if (series.shape == Shape::area) continue;
    draw_line(canvas, low, series.stroke);
    draw_line(canvas, high, series.stroke);
  }
}

/// Puts the letter on the line at the position `wanted` (0 to 1), or at the nearest position inside the picture.
void mark(Canvas& canvas, const Series& series, const Rulers& rulers, char which, double wanted) {
  double nearest = 2;
  Position found{};
  for (const std::vector<Vertex>& run : runs_of(series, rulers)) {
    std::vector<Position> line;
    line.reserve(run.size());
    for (const Vertex& v : run) line.push_back({v.x, (v.low + v.high) / 2});
    for (const std::vector<Position>& part : clip_line(line)) {
      for (std::size_t i = 1; i < part.size(); ++i) {
        const Position from = part[i - 1], to = part[i];
        const double x = std::clamp(wanted, std::min(from.x, to.x), std::max(from.x, to.x));
        if (std::abs(x - wanted) >= nearest) continue;
        nearest = std::abs(x - wanted);
        const double t = to.x == from.x ? 0.5 : (x - from.x) / (to.x - from.x);
        found = {x, from.y + t * (to.y - from.y)};
      }
    }
  }
  if (nearest <= 1) canvas.letter(canvas.x_of(found.x), canvas.y_of(found.y), which);
}

bool is_listed(const Series& series) { return !series.label.empty(); }
bool has_letter(const Series& series) { return is_listed(series) && (series.shape == Shape::line || series.shape == Shape::steps); }

/// The letter of each series: A, B, ... for lines if there are several, otherwise a sign for its shape.
std::vector<std::string> signs_of(const Picture& picture) {
  const auto lettered = std::count_if(picture.series.begin(), picture.series.end(), has_letter);
  std::vector<std::string> signs;
  char next = 'A';
  for (const Series& one : picture.series) {
    if (has_letter(one) && lettered > 1 && next <= 'Z') {
      signs.emplace_back(1, next++);
    } else {
      signs.emplace_back(one.shape == Shape::markers ? "o" : one.shape == Shape::area ? "⠄" : "⠤");
    }
  }
  return signs;
}

Canvas paint(const Picture& picture, const Rulers& rulers, const std::vector<std::string>& signs, int columns, int rows) {
  Canvas canvas(columns, rows);
  for (const Series& one : picture.series) draw(canvas, one, rulers);
  const auto is_letter = [](const std::string& sign) { return sign.size() == 1 && sign[0] != 'o'; };
  const auto letters = std::count_if(signs.begin(), signs.end(), is_letter);
  int place = 0;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    if (is_letter(signs[i])) mark(canvas, picture.series[i], rulers, signs[i][0], (++place) / static_cast<double>(letters + 1));
  }
  return canvas;
}

std::string padded(const std::string& text, std::size_t width) { return std::string(width - std::min(width, length_of(text)), ' ') + text; }

/// The line below the drawing with its tick marks, the labels of the ticks that do not overlap, and the quantity of the axis.
std::string horizontal_axis(const Axis& axis, const Ruler& ruler, std::size_t margin, int columns) {
  std::vector<std::string> line(static_cast<std::size_t>(columns), "─");
  std::string names;
  std::size_t used = 0;  // characters of `names`
  for (const Tick& tick : ruler.ticks(6)) {
    const auto at = static_cast<std::size_t>(std::lround(ruler.place(tick.at) * (columns - 1)));
    line[at] = "┴";
    const std::size_t size = length_of(tick.label);
    const std::size_t start = margin + 2 + at - std::min(margin + 2 + at, size / 2);
    if (start + size > margin + 2 + static_cast<std::size_t>(columns) + 1 || (used > 0 && start < used + 1)) continue;
    names += std::string(start - used, ' ') + tick.label;
    used = start + size;
  }
  std::string text = std::string(margin + 1, ' ') + "└";
  for (const std::string& piece : line) text += piece;
  const std::string label = shortened(printable(axis.label), static_cast<std::size_t>(columns));
  return text + "\n" + names + "\n" + std::string(margin + 2 + (static_cast<std::size_t>(columns) - length_of(label)) / 2, ' ') + label +
         "\n";
}

std::string legend_of(const Picture& picture, const std::vector<std::string>& signs, std::size_t columns) {
  std::string text;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    if (is_listed(picture.series[i])) text += "  " + signs[i] + "  " + shortened(printable(picture.series[i].label), columns - 5) + "\n";
  }
  return text;
}

}  // namespace

std::string to_terminal(const Picture& picture, TerminalSize size) {
  const Rulers rulers = rulers_of(picture);
  const std::vector<std::string> signs = signs_of(picture);
  const std::vector<Tick> ticks = rulers.y.ticks(std::max(2, size.rows / 3));
  std::size_t margin = 4;
  for (const Tick& tick : ticks) margin = std::max(margin, length_of(tick.label) + 1);
  // room for the axis, and for half a tick label beyond the right end
  const int columns = std::max(8, size.columns - static_cast<int>(margin) - 4);
  const Canvas canvas = paint(picture, rulers, signs, columns, size.rows);

  const auto room = static_cast<std::size_t>(size.columns) - 2;
  std::string text = picture.title.empty() ? "" : "  " + shortened(printable(picture.title), room) + "\n";
  text += "  " + shortened(printable(picture.y.label), room) + "\n";
  std::vector<std::string> names(static_cast<std::size_t>(size.rows));
  for (const Tick& tick : ticks) names[static_cast<std::size_t>(canvas.row_of(rulers.y.place(tick.at)))] = tick.label;
  for (int row = 0; row < size.rows; ++row) {
    const std::string& name = names[static_cast<std::size_t>(row)];
    text += padded(name, margin) + (name.empty() ? " │" : " ┤") + canvas.row(row) + "\n";
  }
  return text + horizontal_axis(picture.x, rulers.x, margin, columns) + legend_of(picture, signs, static_cast<std::size_t>(size.columns));
}

}  // namespace tradeoff::detail::report
