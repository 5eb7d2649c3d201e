// SPDX-License-Identifier: Apache-2.0
#include "report/ruler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "numeric/conversions.h"

namespace tradeoff::detail::report {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double below_everything = -0.05;  // the position of 0 on a logarithmic axis: just outside

std::string superscript(int exponent) {
  static constexpr std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits[static_cast<std::size_t>(digit - '0')];
  return text;
}

std::string fixed(double value, int decimals) {
  std::array<char, 400> text{};  // the largest double has 309 digits
  const auto end = numeric::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals).ptr;
  return {text.data(), end};
}

/// A small whole number times 10^exponent, in the usual notation.
std::string round_number(double count, int exponent) {
  if (count == 0) return "0";
  if (exponent >= 5 || exponent < -4) return fixed(count, 0) + "×10" + superscript(exponent);
  return fixed(count * std::pow(10.0, exponent), std::max(0, -exponent));
}

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
  const double rough = (high - low) / wanted;
  const int exponent = static_cast<int>(std::floor(std::log10(rough)));
  const double unit = std::pow(10.0, exponent);
  const int factor = rough <= unit ? 1 : rough <= 2 * unit ? 2 : rough <= 5 * unit ? 5 : 10;
  const double step = factor * unit;
  constexpr double slack = 1e-9;  // a round end gets a label although its quotient by the step is rounded
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step - slack);
  const double last = std::floor(high / step + slack);
  for (int k = 0; first + k <= last && k <= 2 * wanted; ++k) {
    const double i = first + k;
    ticks.push_back({std::clamp(i * step, low, high), factor == 10 ? round_number(i, exponent + 1) : round_number(i * factor, exponent)});
  }
  return ticks;
}

std::vector<Tick> logarithmic_ticks(double low, double high, int wanted) {
  constexpr double slack = 1e-9;
  const int first = static_cast<int>(std::ceil(std::log10(low) - slack));
  const int last = static_cast<int>(std::floor(std::log10(high) + slack));
  std::vector<Tick> ticks;
  if (last - first >= 2) {
    const int stride = std::max(1, (last - first + wanted - 1) / wanted);
    for (int exponent = last; exponent >= first; exponent -= stride)
      ticks.push_back({std::clamp(std::pow(10.0, exponent), low, high), exponent == 0 ? "1" : "10" + superscript(exponent)});
    std::reverse(ticks.begin(), ticks.end());
    return ticks;
  }
  for (int exponent = first - 1; exponent <= last; ++exponent) {
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(10.0, exponent);
      if (value >= low * (1 - slack) && value <= high * (1 + slack))
        ticks.push_back({std::clamp(value, low, high), round_number(factor, exponent)});
    }
  }
  return ticks;
}

}  // namespace

Ruler::Ruler(const Axis& axis, const std::vector<double>& values) : scale_(axis.scale), low_(infinity), high_(-infinity) {
  constexpr double least = std::numeric_limits<double>::min(), most = std::numeric_limits<double>::max();
  const auto usable = [this](double value) { return std::isfinite(value) && (scale_ == Scale::linear || value >= least); };
  for (const double value : values) {
    if (!usable(value)) continue;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  if (!(low_ <= high_)) low_ = high_ = 1;  // there are no data
  if (axis.low && usable(*axis.low)) low_ = *axis.low;
  if (axis.high && usable(*axis.high)) high_ = *axis.high;
  const double extent = scale_ == Scale::linear ? high_ - low_ : std::log(high_) - std::log(low_);
  if (extent > 0 && std::isnormal(extent)) return;
  const double middle = low_, half = std::max(0.5, std::abs(middle) / 2);
  low_ = scale_ == Scale::linear ? std::max(middle - half, -most) : std::max(middle / 10, least);
  high_ = scale_ == Scale::linear ? std::min(middle + half, most) : std::min(middle * 10, most);
}

double Ruler::place(double value) const {
  if (scale_ == Scale::linear) return (value - low_) / (high_ - low_);
  if (!(value > 0)) return std::isnan(value) ? value : -infinity;
  return (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_));  // a quotient of values might overflow
}

std::vector<Tick> Ruler::ticks(int wanted) const {
  return scale_ == Scale::linear ? linear_ticks(low_, high_, wanted) : logarithmic_ticks(low_, high_, wanted);
}

Rulers rulers_of(const Picture& picture) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Series& one : picture.series) {
    for (const Spot& spot : one.spots) {
      xs.push_back(spot.x);
      ys.push_back(spot.y.lo);
      ys.push_back(spot.y.hi);
    }
  }
  const Ruler x(picture.x, xs);
  const Ruler tight(picture.y, ys);
  Axis y = picture.y;
  constexpr double headroom = 0.06;  // so that a curve does not touch the frame
  if (!y.high && y.scale == Scale::linear) y.high = tight.high() + headroom * (tight.high() - tight.low());
  return {x, Ruler(y, ys)};
}

std::vector<std::vector<Vertex>> runs_of(const Series& series, const Rulers& rulers) {
  const auto height = [&rulers](double y) { return rulers.y.place(y) == -infinity ? below_everything : rulers.y.place(y); };
  std::vector<std::vector<Vertex>> runs(1);
  for (const Spot& spot : series.spots) {
    const Vertex vertex{rulers.x.place(spot.x), std::isfinite(spot.y.lo) ? height(spot.y.lo) : infinity, height(spot.y.hi)};
    if (!std::isfinite(vertex.x) || !std::isfinite(vertex.low) || !std::isfinite(vertex.high)) {
      if (!runs.back().empty()) runs.emplace_back();
      continue;
    }
    std::vector<Vertex>& run = runs.back();
    if (series.shape == Shape::steps && !run.empty()) run.push_back({vertex.x, run.back().low, run.back().high});
    run.push_back(vertex);
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

std::vector<std::vector<Position>> clip_line(const std::vector<Position>& line) {
  std::vector<std::vector<Position>> parts;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Position from = line[i - 1];
    const Position to = line[i];
    double enter = 0;  // the share of the way at which the line enters the square
    double leave = 1;
    for (const auto& [start, way] : {std::pair{from.x, to.x - from.x}, std::pair{from.y, to.y - from.y}}) {
      if (way == 0 && (start < 0 || start > 1)) leave = -1;
      if (way == 0) continue;
      enter = std::max(enter, std::min((0 - start) / way, (1 - start) / way));
      leave = std::min(leave, std::max((0 - start) / way, (1 - start) / way));
    }
    if (!(enter <= leave)) continue;
    const auto at = [&](double t) { return t == 1 ? to : Position{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)}; };
    if (parts.empty() || enter > 0 || parts.back().back() != from) parts.push_back({at(enter)});
    parts.back().push_back(at(leave));
  }
  return parts;
}

std::vector<Position> clip_polygon(std::vector<Position> polygon) {
  // Clips at one side after the other: points beyond it are replaced by the crossings.
  const auto clip = [&polygon](double Position::* along, double side, double sign) {
    std::vector<Position> inside;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Position from = polygon[i];
      const Position to = polygon[(i + 1) % polygon.size()];
      const double before = sign * (from.*along - side);
      const double after = sign * (to.*along - side);
      if (before >= 0) inside.push_back(from);
      if ((before > 0 && after < 0) || (before < 0 && after > 0)) {
        const double t = before / (before - after);
        inside.push_back({from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)});
      }
    }
    polygon = std::move(inside);
  };
  clip(&Position::x, 0, 1);
  clip(&Position::x, 1, -1);
  clip(&Position::y, 0, 1);
  clip(&Position::y, 1, -1);
  return polygon;
}

}  // namespace tradeoff::detail::report
