// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "transform/mixture_pair.h"
#include "transform/nodes.h"
#include "transform/panel_range.h"
#include "transform/raised_path.h"

namespace tradeoff::detail {

/// The distribution of the loss of a MixturePair under Q by Gauss-Legendre panels in x, with a bound of the error for every power.
/// [mixture-transform]
class MixtureNodes final : public NodeLaw {
 public:
  using Range = PanelRange;
  MixtureNodes(const MixturePair& pair, const Range& range);
  /// If more panels than this were needed, the list stays empty, because they would cost too much.
  static constexpr std::size_t most_panels = 600;

  using NodeLaw::log_error;
  [[nodiscard]] double log_error(double power, double t, const Sum& sum) const override;
  [[nodiscard]] double unit_error() const override { return unit_error_; }

  /// A cut at a place x: log of bounds of the tilted mass left of it, and of the variation of the density right of it, its jump included.
  struct Cut {
    double place;
    double log_mass_left;
    double log_variation_right;
  };
  /// All cuts, from the right to the left; the last has the variation of the whole density and no mass.
  [[nodiscard]] std::vector<Cut> cuts(double power) const;
  /// log of a bound of |E_Q[w^(p + iy)]| for every y >= t. [raised-path]
  [[nodiscard]] double log_moment_after(double power, double t) const { return path_->log_moment_after(power, t); }

 private:
  struct Ellipse {             // Bernstein's ellipse around a panel, and the rectangle around it
    double log_factor;         // of the error bound, half length of the panel included
    double half_square_left;   // x^2/2 at the sides of the rectangle
    double half_square_right;  //
    double log_excess;         // what a cell of this length adds to the larger of its ends
    double ahead_left;         // log u at the left and right side
    double ahead_right;
    double behind_left;  // log v
    double behind_right;
    double ahead_least;   // the least log |u| on the rectangle
    double behind_least;  // the least log |v|
    double argument;      // the largest |arg (u/v)|
  };
  struct Panel {
    double centre;
    double half;
    std::vector<Ellipse> ellipses;
  };
  struct Point {  // an end of a cell, for the variation
    double x;
    MixtureSide::Rough ahead;
    MixtureSide::Rough behind;
  };
  struct Bound {  // of the logarithmic derivative of the density on a cell
    double least;
    double largest;
  };
  [[nodiscard]] Panel make_panel(double left, double right) const;
  [[nodiscard]] static double log_panel_error(const Panel& panel, double power, double t);
  [[nodiscard]] double log_tail_right(double power, double x) const;
  [[nodiscard]] double log_tail_left(double power, double x) const;
  [[nodiscard]] bool place_panels(const Range& range, double furthest);
  [[nodiscard]] double end_of_march(const Range& range) const;
  [[nodiscard]] Point point_at(double x) const;
  [[nodiscard]] double log_density(double power, const Point& at) const;
  [[nodiscard]] Bound slope(double power, const Point& left, const Point& right) const;
  [[nodiscard]] const std::vector<Point>& points() const;
  void fill();

  const MixturePair& pair_;
  double mu_;
  double ahead_count_, behind_count_;
  double least_log_ahead_, least_log_behind_;  // log of the weights of N(0, 1)
  double low_ = 0, high_ = 0;                  // the range of the panels
  double unit_error_ = 0;
  std::vector<Panel> panels_;
  std::optional<RaisedPath> path_;
  mutable std::vector<Point> points_;  // computed at the first use
  mutable std::once_flag found_points_;
};

}  // namespace tradeoff::detail
