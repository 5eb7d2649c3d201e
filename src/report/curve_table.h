// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::report {

/// The three views of a curve.
enum class View { tradeoff, profile, gdpt };

/// A curve at some points, each value certified: what a plot or a spreadsheet needs.
struct CurveTable {
  struct Row {
    double at;
    Interval value;
    std::string text = {};  ///< the place as the user wrote it; empty: `at`, which is then exact
  };
  std::string_view argument;  ///< "alpha" or "epsilon"
  std::string_view quantity;  ///< "beta", "delta" or "mu"
  std::vector<Row> rows;
};

/// The alpha of a sample, the first one 0 and the last one 1.
[[nodiscard]] double tradeoff_place(std::size_t index, std::size_t points);
/// The trade-off function, denser near alpha = 0, where attacks are judged.
[[nodiscard]] CurveTable sample_tradeoff(const Curve& curve, Direction direction, std::size_t points);
/// Where delta is negligible, so that a picture of the profile may end; a usual epsilon if there is no such place.
[[nodiscard]] double last_epsilon(const Curve& curve, Direction direction);
/// The privacy profile from epsilon = 0 to `last_epsilon`.
[[nodiscard]] CurveTable sample_profile(const Curve& curve, Direction direction, std::size_t points);
/// The profile in units of Gaussian mu: flat where the plan behaves like a Gaussian.
[[nodiscard]] CurveTable sample_gdp_transform(const Curve& curve, Direction direction, std::size_t points);

/// The view at chosen places: alphas in [0, 1] for the trade-off function, otherwise epsilons.
[[nodiscard]] CurveTable sample_at(const Curve& curve, View view, Direction direction, const std::vector<Number>& places);

/// A header and a line a point: `epsilon,delta_lo,delta_hi`. Decimals are rounded outward; infinity is `inf`.
[[nodiscard]] std::string to_csv(const CurveTable& table);
/// The same for several plans, with the plan in a first column: `plan,epsilon,delta_lo,delta_hi`.
[[nodiscard]] std::string to_csv(const std::vector<std::pair<std::string, CurveTable>>& tables);
/// `[{"epsilon": 0, "delta": {"lo": ..., "hi": ...}}, ...]`.
[[nodiscard]] std::string to_json(const CurveTable& table);

}  // namespace tradeoff::detail::report
