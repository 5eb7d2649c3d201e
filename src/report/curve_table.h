// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tradeoff/curve.h"

namespace tradeoff::report {

/// A curve at some points, each value certified: what a plot or a spreadsheet needs.
struct CurveTable {
  struct Row {
    double at;
    Interval value;
  };
  std::string_view argument;  ///< "alpha" or "epsilon"
  std::string_view quantity;  ///< "beta", "delta" or "mu"
  std::vector<Row> rows;
};

/// The trade-off function, denser near alpha = 0, where attacks are judged.
[[nodiscard]] CurveTable sample_tradeoff(const Curve& curve, Direction direction, std::size_t points);
/// The privacy profile from epsilon = 0 to where delta is below what anybody asks for.
[[nodiscard]] CurveTable sample_profile(const Curve& curve, Direction direction, std::size_t points);
/// The profile in units of Gaussian mu: flat where the plan behaves like a Gaussian.
[[nodiscard]] CurveTable sample_gdp_transform(const Curve& curve, Direction direction, std::size_t points);

/// A header and a line a point: `epsilon,delta_lo,delta_hi`. Decimals are rounded outward; infinity is `inf`.
[[nodiscard]] std::string to_csv(const CurveTable& table);
/// `[{"epsilon": 0, "delta": {"lo": ..., "hi": ...}}, ...]`.
[[nodiscard]] std::string to_json(const CurveTable& table);

/// mu_GDP(epsilon, delta(epsilon)), by the logarithm of delta where delta itself underflows.
[[nodiscard]] Interval gdp_transform_at(const Curve& curve, Interval epsilon, Direction direction);

}  // namespace tradeoff::report
