// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "transform/iterated_curve.h"
#include "transform/nodes.h"
#include "transform/panel_range.h"

namespace tradeoff::detail {

/// The distribution of the loss of a group by Gauss-Legendre panels along the pieces of its curve, with a bound of the error for every
/// power. The losses are not negative along the pieces: l keeps its mass, and -l gets w times it. [group-transform]
class GroupNodes final : public NodeLaw {
 public:
  using Range = PanelRange;
  GroupNodes(const IteratedCurve& curve, const Range& range);
  /// If more panels than this were needed, the list stays empty, because they would cost too much.
  static constexpr std::size_t most_panels = 250;

  using NodeLaw::log_error;
  [[nodiscard]] double log_error(double power, double t, const Sum& sum) const override;
  [[nodiscard]] double unit_error() const override { return unit_error_; }

  /// log of a bound of the tilted mass E_Q[w^p] that has no density or none of bounded variation; and of what of it is not an atom.
  [[nodiscard]] double log_atoms(double power) const;
  [[nodiscard]] double log_rest(double power) const;
  /// log of a bound of the total variation, jumps included, of the density of l against w^p.
  [[nodiscard]] double log_variation(double power) const;

 private:
  using Piece = IteratedCurve::Piece;
  /// What is known of the integrand on a disc around a part of a piece: the values at the centre, and the derivatives on the disc.
  struct Around {
    double radius;
    double loss, log_density;
    Disc loss_slope, density_slope;

    /// log of a bound of |density w^(p + iy)| on the disc, |y| <= t.
    [[nodiscard]] double log_largest(double power, double t) const;
  };
  struct Bound {
    double log_factor;  // of the error of the rule
    bool is_real;       // only the panel itself is used, where |w^(iy)| is 1
    Around around;
  };
  struct Panel {
    const Piece* piece;
    Interval from, to;
    std::vector<Bound> bounds;
  };
  /// A part of a panel on which the density of the loss changes little.
  struct Cell {
    const Piece* piece;
    std::optional<Around> around;
    double least_slope;  // of the loss; 0 if none is known
    double bend;         // a bound of the derivative of the logarithm of the slope of the loss
  };
  struct Atom {
    double loss, loss_error, log_mass;  // the mass from above
  };
  struct Sample {
    double log_mass, loss;
  };
  /// The levels beyond a parameter of the unbounded piece, up to the next one: bounds of their mass and of their losses.
  struct Beyond {
    double from, log_mass, loss;
  };

  [[nodiscard]] bool find_samples(const Range& range);
  [[nodiscard]] bool find_beyond(double from, double power);
  [[nodiscard]] double log_peak(double power) const;
  [[nodiscard]] bool place_panels(const Range& range, double furthest);
  [[nodiscard]] bool split(Panel panel, const std::vector<PanelDemand>& demands);
  [[nodiscard]] bool fits(Panel& panel, const std::vector<PanelDemand>& demands) const;
  [[nodiscard]] std::optional<Around> around(const Piece& piece, double centre, double radius) const;
  [[nodiscard]] static double log_panel_error(const Panel& panel, double power, double t);
  [[nodiscard]] double log_tail(double power) const;
  void fill(bool rough);
  void add_atom(const Piece& piece);
  void add_cells(const Panel& panel);
  void add_point(const Piece& piece, Interval parameter, Interval log_share);
  void add_node(Interval loss, Interval log_weight);

  const IteratedCurve& curve_;
  Interval log_scale_;          // of all masses: they are conditional on finite losses
  std::vector<Beyond> beyond_;  // an unbounded piece, and the place from which on the panels do not cover it
  std::size_t left_out_ = 0;
  double unit_error_ = 0;
  std::vector<Sample> samples_;  // for searches
  std::vector<Panel> panels_;
  std::vector<Cell> cells_;
  std::vector<Atom> atoms_;
};

}  // namespace tradeoff::detail
