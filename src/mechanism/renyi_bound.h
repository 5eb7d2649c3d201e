// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mechanism/families.h"

namespace tradeoff::detail {

/// Bounds on Renyi divergences: with s = order - 1, log E exp(sL) <= cumulant(s) in both orders, where the cumulant is `square` s (s + 1)
/// plus polygons through the stated orders. [renyi-conversion]
struct RenyiBound {
  /// A convex polygon from (0, 0), multiplied by `times`.
  struct Polygon {
    std::vector<std::pair<double, Interval>> vertices;  ///< (s, bound), s increasing
    double times = 1;
  };
  /// The bound with every rounding upwards, and with every rounding downwards.
  struct Ends {
    std::vector<Polygon> safe;
    std::vector<Polygon> least;
  };
  Interval square;
  Ends polygons;
  Citations origin{};  ///< the theorems by which it follows from what was stated

  /// Encloses the bound at order s + 1; infinite beyond the largest order stated.
  [[nodiscard]] Interval cumulant(double s) const;
  /// The orders, less one, at which the bound has corners, the last of them where it ends; empty for zCDP.
  [[nodiscard]] std::vector<double> corners() const;
  /// rho, if the bound is that of zCDP.
  [[nodiscard]] std::optional<Interval> rho() const;
};

/// A polygon alone as the cumulant: its best conversion has a closed form on every edge. [renyi-conversion]
class PolygonConversion {
 public:
  /// Of the sum of these polygons, of which there is at least one.
  explicit PolygonConversion(const std::vector<RenyiBound::Polygon>& polygons);
  /// Encloses the least exponent over all orders, the logarithm of delta before it is cut at 1.
  [[nodiscard]] Interval least_exponent(double epsilon) const;

 private:
  struct Vertex {
    double s;
    Interval rest;   ///< the exponent there at epsilon 0
    Interval share;  ///< log(s / (1 + s))
  };
  struct Edge {
    Interval slope, intercept;
  };
  [[nodiscard]] Interval least_on(std::size_t edge, double epsilon) const;

  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;  ///< edge i ends at vertex i + 1
};

/// Any mechanism with these bounds on its Renyi divergences. Lossy: its profile is the best conversion over all orders.
class RenyiBoundLoss final : public FamilyLoss {
 public:
  explicit RenyiBoundLoss(RenyiBound bound);

  [[nodiscard]] Interval log_value(Interval epsilon) const override;
  [[nodiscard]] Interval relative_drop(Interval epsilon) const override;
  [[nodiscard]] Interval start() const override { return Interval::exactly(0); }
  [[nodiscard]] Interval convex_from() const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override;
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = FamilyLoss::capabilities(direction);
    known.renyi_bound = &bound_;
    return known;
  }
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  RenyiBound bound_;
  /// Where the bound is polygons alone: with every rounding upwards, and downwards.
  std::optional<PolygonConversion> safe_, least_;
};

/// The composition of all of these, each so many times: bounds of the same order add.
[[nodiscard]] LossPointer sum_of_renyi_bounds(const std::vector<std::pair<const RenyiBound*, std::uint64_t>>& parts);

/// Pairs (order, divergence) with orders above 1. Throws DomainError for other orders.
[[nodiscard]] LossPointer renyi_bound(const std::vector<std::pair<Interval, Interval>>& points);
[[nodiscard]] LossPointer zcdp_bound(Interval rho, Citations origin = {});

}  // namespace tradeoff::detail
