// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/picture.h"

namespace tradeoff::detail::report {

/// A labelled position on an axis.
struct Tick {
  double at;
  std::string label;
};

/// An axis with both ends known: positions of values, and the labelled values.
class Ruler {
 public:
  /// The ends that the axis does not give are those of the values; a range without extent is widened.
  Ruler(const Axis& axis, const std::vector<double>& values);

  /// 0 at the low end, 1 at the high end, linear in the value or in its logarithm. Minus infinity for a value <= 0 on a logarithmic axis.
  [[nodiscard]] double place(double value) const;
  /// Round values within the ends, about `wanted` of them and at most twice as many.
  [[nodiscard]] std::vector<Tick> ticks(int wanted) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  Scale scale_;
  double low_;
  double high_;
};

/// The rulers of both axes of a picture.
struct Rulers {
  Ruler x;
  Ruler y;
};
[[nodiscard]] Rulers rulers_of(const Picture& picture);

/// The proved interval at one position, in the unit square of the axes: (0, 0) is the lower left corner. It may lie outside.
struct Vertex {
  double x;
  double low;
  double high;
};

/// The vertices of a series, steps as corners, in runs without gaps. Every coordinate is finite.
[[nodiscard]] std::vector<std::vector<Vertex>> runs_of(const Series& series, const Rulers& rulers);

struct Position {
  double x;
  double y;
  friend bool operator==(const Position&, const Position&) = default;
};

/// The parts of a polyline inside the unit square.
[[nodiscard]] std::vector<std::vector<Position>> clip_line(const std::vector<Position>& line);
/// The part of a polygon inside the unit square.
[[nodiscard]] std::vector<Position> clip_polygon(std::vector<Position> polygon);

}  // namespace tradeoff::detail::report
