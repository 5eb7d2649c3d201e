// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/curve_table.h"
#include "report/picture.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail::report {

/// A curve and its name in the legend.
struct NamedCurve {
  std::string label;
  Curve curve;
};

/// Draws the curves in one diagram over a common range. A trade-off function is shown with the line of random guessing; a single one also
/// with the region of errors that the guarantee allows and with the risk at usual false-positive rates.
[[nodiscard]] Picture draw_curves(View view, const std::vector<NamedCurve>& curves, Direction direction, std::size_t points);

/// The points of the trade-off function, for other drawings.
[[nodiscard]] Series tradeoff_series(std::string label, const Curve& curve, Direction direction = Direction::worst,
                                     std::size_t points = 201);
/// The profile or the transform on [0, last], with more points where delta is not negligible, because it may end steeply.
[[nodiscard]] Series epsilon_series(View view, std::string label, const Curve& curve, double last, Direction direction = Direction::worst,
                                    std::size_t points = 201);
/// beta = 1 - alpha: perfect privacy.
[[nodiscard]] Series guessing_line();
/// The axes of the trade-off function.
[[nodiscard]] Picture tradeoff_axes(std::string title);
/// The axes of a profile, delta from `least` to 1 on a logarithmic scale.
[[nodiscard]] Picture profile_axes(std::string title, double least);
[[nodiscard]] Picture gdpt_axes(std::string title);

}  // namespace tradeoff::detail::report
