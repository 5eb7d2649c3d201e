// SPDX-License-Identifier: Apache-2.0
#include "report/tikz.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "report/json.h"
#include "report/label.h"

namespace tradeoff::detail::report {
namespace {

// The palette of svg.cpp, and grey.
constexpr std::array<std::string_view, palette_size + 1> tikz_colours = {"0072B2", "D55E00", "009E73", "B0578D",
                                                                         "C98500", "3A9BD9", "24292F", "8C959F"};
constexpr double visible = 0.004;  // of the axis: a narrower band is hidden by its line

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> tikz_signs = {{{"α", "$\\alpha$"},
                                                                                       {"β", "$\\beta$"},
                                                                                       {"δ", "$\\delta$"},
                                                                                       {"ε", "$\\varepsilon$"},
                                                                                       {"μ", "$\\mu$"},
                                                                                       {"σ", "$\\sigma$"},
                                                                                       {"ρ", "$\\rho$"},
                                                                                       {"≤", "$\\leq$"},
                                                                                       {"≥", "$\\geq$"},
                                                                                       {"\\", "\\textbackslash{}"},
                                                                                       {"^", "\\textasciicircum{}"},
                                                                                       {"~", "\\textasciitilde{}"},
                                                                                       {"<", "$<$"},
                                                                                       {">", "$>$"}}};

/// Text of a label, with Greek letters in mathematics and special characters escaped.
std::string tex(const std::string& given) {
  const std::string text = printable(given);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    bool found = false;
    for (const auto& [plain, set] : tikz_signs)
      if (text.compare(at, plain.size(), plain) == 0) {
        out += set;
        at += plain.size();
        found = true;
        break;
      }
    if (found) continue;
    const char c = text[at++];
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) out += '\\';
    out += c == '|' ? std::string("\\textbar{}") : std::string(1, c);
  }
  return out;
}

std::string number(double value) {
  JsonWriter shortest;
  return shortest.number(value).str();
}

double middle(Interval y) { return y.lo + (y.hi - y.lo) / 2; }

bool is_drawn(const Spot& spot, bool logarithmic) {
  return std::isfinite(spot.x) && std::isfinite(spot.y.lo) && std::isfinite(spot.y.hi) && !(logarithmic && spot.y.lo <= 0);
}

std::string coordinates(const std::vector<std::pair<double, double>>& points) {
  std::string text = "coordinates {";
  std::size_t column = 0;
  for (const auto& [x, y] : points) {
    const std::string one = "(" + number(x) + "," + number(y) + ")";
    column += one.size() + 1;
    text += (column > 110 ? "\n    " : " ") + one;
    if (column > 110) column = one.size();
  }
  return text + "};\n";
}

/// The region between the ends of the intervals, as one closed path.
std::string band(const Series& series, const std::string& colour, bool logarithmic, const char* opacity, bool named) {
  std::vector<std::pair<double, double>> points;
  for (const Spot& spot : series.spots)
    if (is_drawn(spot, logarithmic)) points.emplace_back(spot.x, spot.y.hi);
  for (auto spot = series.spots.rbegin(); spot != series.spots.rend(); ++spot)
    if (is_drawn(*spot, logarithmic)) points.emplace_back(spot->x, spot->y.lo);
  return "\\addplot[draw=none, fill=" + colour + ", fill opacity=" + opacity + (named ? "" : ", forget plot") + "] " + coordinates(points);
}

/// Whether the band of a line can be seen.
bool is_wide(const Series& series, const Picture& picture) {
  if (picture.y.scale == Scale::logarithmic) return false;
  const double height = picture.y.high.value_or(1) - picture.y.low.value_or(0);
  for (const Spot& spot : series.spots)
    if (is_drawn(spot, false) && spot.y.hi - spot.y.lo > visible * height) return true;
  return false;
}

std::string plot_of(const Series& series, std::size_t index, const Picture& picture) {
  const bool logarithmic = picture.y.scale == Scale::logarithmic;
  const std::string colour = "tradeoff" + std::to_string(series.colour.value_or(index % palette_size));
  std::string text;
  if (series.shape == Shape::area) {
    text = band(series, colour, logarithmic, "0.16", !series.label.empty());
  } else {
    if (is_wide(series, picture)) text += band(series, colour, logarithmic, "0.25", false);
    std::string style = colour + ", thick";
    if (series.shape == Shape::markers)
      style += ", only marks, mark=*";
    else
      style += ", no marks";
    if (series.shape == Shape::steps) style += ", const plot";
    if (series.stroke == Stroke::dashed) style += ", dashed";
    if (series.stroke == Stroke::dotted) style += ", dotted";
    if (series.label.empty()) style += ", forget plot";
    std::vector<std::pair<double, double>> points;
    for (const Spot& spot : series.spots)
      if (is_drawn(spot, logarithmic)) points.emplace_back(spot.x, middle(spot.y));
    text += "\\addplot[" + style + "] " + coordinates(points);
  }
  return series.label.empty() ? text : text + "\\addlegendentry{" + tex(series.label) + "}\n";
}

std::string axis_options(const Axis& axis, const char* name) {
  const std::string which(name);
  std::string text = which + "label={" + tex(axis.label) + "}";
  if (axis.scale == Scale::logarithmic) text += ", " + which + "mode=log";
  if (axis.low) text += ", " + which + "min=" + number(*axis.low);
  if (axis.high) text += ", " + which + "max=" + number(*axis.high);
  return text;
}

}  // namespace

std::string to_tikz(const Figure& figure) {
  std::string text = "% needs \\usepackage{pgfplots} and \\pgfplotsset{compat=1.16}\n";
  for (std::size_t i = 0; i < tikz_colours.size(); ++i)
    text += "\\definecolor{tradeoff" + std::to_string(i) + "}{HTML}{" + std::string(tikz_colours[i]) + "}\n";
  for (const Picture& picture : figure.panels) {
    text += "\\begin{tikzpicture}\n\\begin{axis}[title={" + tex(picture.title) + "},\n  " + axis_options(picture.x, "x") + ",\n  " +
            axis_options(picture.y, "y") +
            ",\n  grid=major, legend cell align=left, legend style={at={(0.5,-0.2)}, anchor=north, draw=none}" +
            (picture.square ? ", width=9cm, height=9cm" : ", width=11cm, height=8cm") + "]\n";
    std::size_t index = 0;
    for (const Series& series : picture.series) text += plot_of(series, series.colour ? index : index++, picture);
    text += "\\end{axis}\n\\end{tikzpicture}\n";
  }
  return text;
}

}  // namespace tradeoff::detail::report
