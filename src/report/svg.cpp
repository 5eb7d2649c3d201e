// SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "numeric/conversions.h"
#include "report/escape.h"
#include "report/label.h"
#include "report/ruler.h"

namespace tradeoff::detail::report {
namespace {

// Lengths in pixels. The margins have room for the widest tick label, two lines of labels, and half a tick label beyond the right end.
constexpr double left_margin = 66;
constexpr double right_margin = 22;
constexpr double top_margin = 38;
constexpr double axis_margin = 48;
constexpr double bottom_margin = 14;
constexpr double legend_row = 20;
constexpr double swatch = 28;
constexpr double legend_gap = 16;
constexpr double character = 6.8;        // width of a character of 12-pixel text, estimated generously
constexpr double title_character = 7.6;  // width of a character of the title
constexpr double narrowest_band = 0.8;   // a narrower band would be hidden by its line
constexpr int wanted_ticks = 6;

// The palette of Okabe and Ito without yellow, which is too light on white; lighter variants on a dark background.
constexpr std::string_view figure_style =
    ".tradeoff-picture{font-family:system-ui,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;font-size:12px}"
    ".tradeoff-picture .paper{fill:#ffffff}"
    ".tradeoff-picture text{fill:#24292f;stroke:none}"
    ".tradeoff-picture .heading{font-size:14px;font-weight:600}"
    ".tradeoff-picture .grid{stroke:#e4e7ea;stroke-width:1;fill:none}"
    ".tradeoff-picture .frame{stroke:#6e7781;stroke-width:1;fill:none}"
    ".tradeoff-picture .line{stroke:currentColor;stroke-width:2;fill:none;stroke-linejoin:round;stroke-linecap:round}"
    ".tradeoff-picture .edge{stroke:currentColor;stroke-width:1;fill:none;stroke-linejoin:round}"
    ".tradeoff-picture .dashed{stroke-dasharray:7 5;stroke-linecap:butt}"
    ".tradeoff-picture .dotted{stroke-dasharray:0.1 4.5}"
    ".tradeoff-picture .area{fill:currentColor;fill-opacity:0.16;stroke:none}"
    ".tradeoff-picture .dot{fill:currentColor;stroke:none}"
    ".tradeoff-picture .c0{color:#0072b2}.tradeoff-picture .c1{color:#d55e00}.tradeoff-picture .c2{color:#009e73}"
    ".tradeoff-picture .c3{color:#b0578d}.tradeoff-picture .c4{color:#c98500}.tradeoff-picture .c5{color:#3a9bd9}"
    ".tradeoff-picture .c6{color:#24292f}.tradeoff-picture .c7{color:#8c959f}"
    "@media screen and (prefers-color-scheme:dark){"
    ".tradeoff-picture .paper{fill:#0d1117}.tradeoff-picture text{fill:#e6edf3}"
    ".tradeoff-picture .grid{stroke:#262c34}.tradeoff-picture .frame{stroke:#7d8590}"
    ".tradeoff-picture .area{fill-opacity:0.24}"
    ".tradeoff-picture .c0{color:#56b4e9}.tradeoff-picture .c1{color:#ff8c42}.tradeoff-picture .c2{color:#2fc79a}"
    ".tradeoff-picture .c3{color:#e69fc6}.tradeoff-picture .c4{color:#f0b429}.tradeoff-picture .c5{color:#8fb8ff}"
    ".tradeoff-picture .c6{color:#e6edf3}.tradeoff-picture .c7{color:#8b949e}}";

/// A length with at most two decimals: a hundredth of a pixel is not visible.
std::string pixels(double value) {
  const double rounded = std::round(value * 100) / 100;
  std::array<char, 64> text{};
  const auto end = numeric::to_chars(text.data(), text.data() + text.size(), rounded == 0 ? 0.0 : rounded, std::chars_format::fixed).ptr;
  return {text.data(), end};
}

std::string attribute(const char* name, double value) { return std::string(" ") + name + "=\"" + pixels(value) + "\""; }

std::string text_at(double x, double y, const char* anchor, const std::string& text, const std::string& more = {}) {
  return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor + "\"" + more + ">" + escaped_markup(text) +
         "</text>\n";
}

/// The position of the unit square of a panel in the document. There y grows upwards, in SVG downwards.
struct Frame {
  double left;
  double top;
  double width;
  double height;
  [[nodiscard]] double x(double place) const { return left + place * width; }
  [[nodiscard]] double y(double place) const { return top + (1 - place) * height; }
  [[nodiscard]] std::string position(Position p) const { return pixels(x(p.x)) + " " + pixels(y(p.y)); }
  [[nodiscard]] double bottom() const { return top + height; }
};

std::string path_of(const Frame& frame, const std::vector<Position>& line) {
  std::string path;
  for (const std::vector<Position>& part : clip_line(line)) {
    path += "M" + frame.position(part.front());
    for (std::size_t i = 1; i < part.size(); ++i) path += (i == 1 ? "L" : " ") + frame.position(part[i]);
  }
  return path;
}

std::string element(const std::string& kind, const std::string& path) {
  return path.empty() ? "" : "<path class=\"" + kind + "\" d=\"" + path + "\"/>\n";
}

const char* stroke_class(Stroke stroke) {
  return stroke == Stroke::dashed ? "line dashed" : stroke == Stroke::dotted ? "line dotted" : "line";
}

std::string band_of(const Frame& frame, const std::vector<Vertex>& run) {
  std::vector<Position> polygon;
  polygon.reserve(2 * run.size());
  for (const Vertex& v : run) polygon.push_back({v.x, v.high});
  for (auto v = run.rbegin(); v != run.rend(); ++v) polygon.push_back({v->x, v->low});
  polygon = clip_polygon(std::move(polygon));
  if (polygon.size() < 3) return {};
  std::string path = "M" + frame.position(polygon.front());
  for (std::size_t i = 1; i < polygon.size(); ++i) path += (i == 1 ? "L" : " ") + frame.position(polygon[i]);
  return element("area", path + "Z");
}

std::string markers_of(const Frame& frame, const std::vector<Vertex>& run) {
  std::string text;
  for (const Vertex& v : run) {
    const double middle = (v.low + v.high) / 2;
    if (v.x < 0 || v.x > 1 || middle < 0 || middle > 1) continue;
    text += "<circle class=\"dot\"" + attribute("cx", frame.x(v.x)) + attribute("cy", frame.y(middle)) + " r=\"4\"/>\n";
  }
  return text;
}

std::string run_of(const Frame& frame, const std::vector<Vertex>& run, const Series& series) {
  if (series.shape == Shape::markers) return markers_of(frame, run);
  if (series.shape == Shape::area) return band_of(frame, run);
  const bool visible =
      std::any_of(run.begin(), run.end(), [&](const Vertex& v) { return (v.high - v.low) * frame.height > narrowest_band; });
  std::vector<Position> low, middle, high;
  for (const Vertex& v : run) {
    low.push_back({v.x, v.low});
    middle.push_back({v.x, (v.low + v.high) / 2});
    high.push_back({v.x, v.high});
  }
  if (!visible) return element(stroke_class(series.stroke), path_of(frame, middle));
  return band_of(frame, run) + element("edge", path_of(frame, low)) + element("edge", path_of(frame, high));
}

std::string class_of(std::size_t colour) { return "c" + std::to_string(std::min(colour, grey)); }

std::string axes_of(const Frame& frame, const Picture& picture, const Rulers& rulers) {
  std::string grid, labels;
  for (const Tick& tick : rulers.x.ticks(wanted_ticks)) {
    const double x = frame.x(rulers.x.place(tick.at));
    grid += "M" + pixels(x) + " " + pixels(frame.top) + "V" + pixels(frame.bottom());
    labels += text_at(x, frame.bottom() + 17, "middle", tick.label);
  }
  for (const Tick& tick : rulers.y.ticks(wanted_ticks)) {
    const double y = frame.y(rulers.y.place(tick.at));
    grid += "M" + pixels(frame.left) + " " + pixels(y) + "H" + pixels(frame.left + frame.width);
    labels += text_at(frame.left - 8, y + 4, "end", tick.label);
  }
  const double middle = frame.top + frame.height / 2;
  labels += text_at(frame.left + frame.width / 2, frame.bottom() + 37, "middle", picture.x.label);
  labels += text_at(0, 0, "middle", picture.y.label,
                    " transform=\"translate(" + pixels(frame.left - left_margin + 16) + " " + pixels(middle) + ") rotate(-90)\"");
  return element("grid", grid) + labels;
}

std::string swatch_of(const Series& series, std::size_t colour, double x, double y) {
  const std::string line = "M" + pixels(x) + " " + pixels(y) + "H" + pixels(x + swatch - 8);
  const std::string box =
      "M" + pixels(x) + " " + pixels(y - 6) + "H" + pixels(x + swatch - 8) + "V" + pixels(y + 6) + "H" + pixels(x) + "Z";
  std::string drawn = element(stroke_class(series.stroke), line);
  if (series.shape == Shape::area) drawn = element("area", box);
  if (series.shape == Shape::markers)
    drawn = "<circle class=\"dot\"" + attribute("cx", x + (swatch - 8) / 2) + attribute("cy", y) + " r=\"4\"/>\n";
  return "<g class=\"" + class_of(colour) + "\">" + drawn + "</g>\n";
}

/// The legend in rows that fit the panel, and how many of them there are.
struct Legend {
  std::string text;
  int rows = 0;
};

/// The label in lines of at most `most` characters, broken at spaces: at most two lines, the second one shortened if necessary.
std::vector<std::string> lines_of(const std::string& label, std::size_t most) {
  if (length_of(label) <= most) return {label};
  const std::size_t space = label.rfind(' ', most);  // counted in bytes, so never too far right
  if (space == std::string::npos || space == 0) return {shortened(label, most)};
  return {label.substr(0, space), shortened(label.substr(space + 1), most)};
}

Legend legend_of(const Picture& picture, const std::vector<std::size_t>& colours, double left, double top, double width) {
  Legend legend;
  double x = width;
  for (std::size_t i = 0; i < picture.series.size(); ++i) {
    const Series& series = picture.series[i];
    if (series.label.empty()) continue;
    const std::vector<std::string> lines = lines_of(printable(series.label), static_cast<std::size_t>((width - swatch) / character));
    const double wide = swatch + character * static_cast<double>(length_of(lines.front())) + legend_gap;
    if (legend.rows == 0 || lines.size() > 1 || x + wide - legend_gap > width) {
      ++legend.rows;
      x = 0;
    }
    const double y = top + legend_row * legend.rows;
    legend.text += swatch_of(series, colours[i], left + x, y - 4) + text_at(left + x + swatch, y, "start", lines.front());
    x = lines.size() > 1 ? width : x + wide;
    if (lines.size() > 1) legend.text += text_at(left + swatch, top + legend_row * ++legend.rows, "start", lines.back());
  }
  return legend;
}

std::vector<std::size_t> colours_of(const Picture& picture) {
  std::vector<std::size_t> colours;
  std::size_t next = 0;
  for (const Series& one : picture.series) {
    colours.push_back(one.colour ? *one.colour : next % palette_size);
    if (!one.colour) ++next;
  }
  return colours;
}

struct Panel {
  std::string text;
  double width;
  double height;
};

Panel panel_of(const Picture& picture, double left) {
  const Frame frame{left + left_margin, top_margin, picture.square ? 340.0 : 400.0, 340.0};
  const double width = left_margin + frame.width + right_margin;
  const Rulers rulers = rulers_of(picture);
  const std::vector<std::size_t> colours = colours_of(picture);
  const auto title_room = static_cast<std::size_t>((width - 8) / title_character);
  std::string text = text_at(frame.left + (frame.width - left_margin + right_margin) / 2, 24, "middle",
                             shortened(printable(picture.title), title_room), " class=\"heading\"");
  text += axes_of(frame, picture, rulers);
  for (std::size_t i = 0; i < picture.series.size(); ++i) {
    const Series& series = picture.series[i];
    text += "<g class=\"" + class_of(colours[i]) + "\">" +
            (series.label.empty() ? "" : "<title>" + escaped_markup(series.label) + "</title>") + "\n";
    for (const std::vector<Vertex>& run : runs_of(series, rulers)) text += run_of(frame, run, series);
    text += "</g>\n";
  }
  text += "<rect class=\"frame\"" + attribute("x", frame.left) + attribute("y", frame.top) + attribute("width", frame.width) +
          attribute("height", frame.height) + "/>\n";
  const Legend legend = legend_of(picture, colours, left + 16, frame.bottom() + axis_margin, width - 32);
  return {text + legend.text, width, frame.bottom() + axis_margin + legend_row * legend.rows + bottom_margin};
}

}  // namespace

std::string to_svg(const Figure& figure) {
  std::string body;
  double width = 0;
  double height = 0;
  for (const Picture& picture : figure.panels) {
    const Panel panel = panel_of(picture, width);
    body += "<g>\n" + panel.text + "</g>\n";
    width += panel.width;
    height = std::max(height, panel.height);
  }
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tradeoff-picture\" role=\"img\"" + attribute("width", width) +
         attribute("height", height) + " viewBox=\"0 0 " + pixels(width) + " " + pixels(height) + "\">\n<title>" +
         escaped_markup(figure.title) + "</title>\n<desc>" + escaped_markup(figure.description) + "</desc>\n<style>" +
         std::string(figure_style) + "</style>\n<rect class=\"paper\" x=\"0\" y=\"0\"" + attribute("width", width) +
         attribute("height", height) + "/>\n" + body + "</svg>\n";
}

}  // namespace tradeoff::detail::report
