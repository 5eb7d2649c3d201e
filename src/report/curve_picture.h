// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/picture.h"
#include "tradeoff/curve.h"

namespace tradeoff::report {

/// The three ways to look at a curve.
enum class View { tradeoff, profile, gdpt };

/// A curve and what it is called in the legend.
struct NamedCurve {
  std::string label;
  Curve curve;
};

/// The curves in one diagram, over a range that shows all of them. A trade-off function comes with the line of guessing; one alone also
/// with the region of errors that its guarantee leaves to an attacker and the risk at usual false-positive rates.
[[nodiscard]] Picture draw_curves(View view, const std::vector<NamedCurve>& curves, Direction direction, std::size_t points);

/// The trade-off function, for pictures of one's own.
[[nodiscard]] Series tradeoff_series(std::string label, const Curve& curve, Direction direction = Direction::worst,
                                     std::size_t points = 201);
/// The profile or the transform on [0, last], densest where delta is more than nothing: what ends there ends steeply.
[[nodiscard]] Series epsilon_series(View view, std::string label, const Curve& curve, double last, Direction direction = Direction::worst,
                                    std::size_t points = 201);
/// beta = 1 - alpha: perfect privacy.
[[nodiscard]] Series guessing_line();
/// The axes that the trade-off function is drawn on.
[[nodiscard]] Picture tradeoff_axes(std::string title);
/// The axes of a profile, delta from `least` to 1 on a logarithmic scale.
[[nodiscard]] Picture profile_axes(std::string title, double least);
[[nodiscard]] Picture gdpt_axes(std::string title);

}  // namespace tradeoff::report
