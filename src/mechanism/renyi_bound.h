// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "mechanism/families.h"

namespace tradeoff {

/// Anything known only by bounds on its Renyi divergences: with s = order - 1, log E exp(sL) <= cumulant(s) in both orders, where the
/// cumulant is rho s (s + 1) plus polygons through the stated orders. Lossy: its profile is the best conversion over all orders.
/// [renyi-conversion]
class RenyiBoundLoss final : public FamilyLoss {
 public:
  /// A polygon from (0, 0) that is convex, `times` over.
  struct Polygon {
    std::vector<std::pair<double, Interval>> vertices;  ///< (s, bound), s increasing
    double times = 1;
  };
  /// The same bound with every rounding to the safe side, and to the other.
  struct Ends {
    std::vector<Polygon> safe;
    std::vector<Polygon> least;
  };
  RenyiBoundLoss(Interval rho, Ends polygons) : rho_(rho), polygons_(std::move(polygons)) {}

  /// Encloses the bound at order s + 1; infinite beyond the largest order stated.
  [[nodiscard]] Interval cumulant(double s) const;
  /// rho, if the bound is that of zCDP.
  [[nodiscard]] std::optional<Interval> rho() const;
  /// All of these on the same data, each so many times: bounds of one order add.
  [[nodiscard]] static LossPointer sum(const std::vector<std::pair<const RenyiBoundLoss*, std::uint64_t>>& parts);

  [[nodiscard]] Interval log_value(Interval epsilon) const override;
  [[nodiscard]] Interval relative_drop(Interval epsilon) const override;
  [[nodiscard]] Interval start() const override { return Interval::exactly(0); }
  [[nodiscard]] Interval convex_from() const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override;
  void cite() const override;

 private:
  Interval rho_;
  Ends polygons_;
};

/// Pairs (order, divergence), orders above 1. Throws DomainError for others.
[[nodiscard]] LossPointer renyi_bound(const std::vector<std::pair<Interval, Interval>>& points);
[[nodiscard]] LossPointer zcdp_bound(Interval rho);

}  // namespace tradeoff
