// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "loss/break_points.h"
#include "numeric/arithmetic.h"
#include "transform/nodes.h"
#include "transform/panel_range.h"

namespace tradeoff::detail {

/// s0 of the pair below; {0, 1e-14/sqrt(rho)} if it is smaller than that. [zcdp-transform]
[[nodiscard]] Interval zcdp_start(Interval rho);

/// The symmetric pair that rho-zCDP implies, whole (rate 1) or on a random sample. Its loss is +x(s) or -x(s), where x(s) = rho (2s + 1) +
/// log(s/(1 + s)) and s > s0; the positive half has the density a(s) = 2 rho s exp(-rho s^2) under P and b(s) = a(s) exp(-x(s)) under Q,
/// the negative half has them exchanged. Gauss-Legendre panels in s, with a bound of the error for every power. [zcdp-transform]
class ZcdpNodes final : public NodeLaw {
 public:
  using Range = PanelRange;
  /// Without the losses of x(s), s > at, and for a sample of fixed size without their mirror images, which have at most this mass under P
  /// and under Q. [cut-contour]
  struct Cut {
    double at = infinity;
    double mass = 0;
  };
  ZcdpNodes(Interval rho, Interval rate, SampledBy sampling, const Range& range, const Cut& cut);
  /// If more panels than this were needed, the list stays empty, because they would cost too much.
  static constexpr std::size_t most_panels = 600;

  using NodeLaw::log_error;
  [[nodiscard]] double log_error(double power, double t, const Sum& sum) const override;
  [[nodiscard]] double unit_error() const override { return unit_error_; }

  /// log of a bound of the tilted mass E_Q[w^p] that has no density: the atom at 0 of a sample of fixed size, and what is left out.
  [[nodiscard]] double log_atoms(double power) const;
  /// log of a bound of the total variation, jumps included, of the density of l against w^p.
  [[nodiscard]] double log_variation(double power) const;
  /// log of a bound of |E_Q[w^(p + iy)]| for every y >= t; infinite if none is known, as for samples.
  [[nodiscard]] double log_moment_after(double power, double t) const;

 private:
  /// |w| and arg w on the rectangle around an ellipse.
  struct Ratio {
    double log_least;
    double log_largest;
    double argument;
  };
  /// One half of the losses: the logarithm of the largest density under Q, and w.
  struct Side {
    double log_density;
    Ratio ratio;
  };
  struct Rectangle {  // [from, to] + i [-height, height]
    double from, to, height;
  };
  struct Ellipse {  // Bernstein's ellipse around a panel
    double log_factor;
    Rectangle rectangle;        // around it
    std::array<Side, 2> sides;  // x > 0, x < 0
  };
  struct Panel {
    double centre;
    double half;
    bool cut;  // the positive half is left out
    std::vector<Ellipse> ellipses;
  };

  void find_low(Interval rho);
  [[nodiscard]] double end_of_quadratures(const Range& range) const;
  [[nodiscard]] double x_at(double s) const;
  [[nodiscard]] double slope_at(double s) const;
  /// log w where the loss of the base is x.
  [[nodiscard]] double loss_at(double x) const;
  [[nodiscard]] double log_density(bool positive, double s) const;
  /// The powers of w that E_Q[w^p] holds on each half: a sample of fixed size has only the positive half, twice.
  struct Term {
    bool positive;
    double power;
  };
  [[nodiscard]] std::array<Term, 2> terms(double power) const;
  [[nodiscard]] Ratio ratio_on(bool positive, double log_small, double log_large, double angle) const;
  [[nodiscard]] Panel make_panel(double left, double right) const;
  [[nodiscard]] double log_whole_ellipse(const Ellipse& ellipse, double p, double t) const;
  [[nodiscard]] double log_panel_error(const Panel& panel, double power, double t) const;
  [[nodiscard]] double log_tail(double power) const;
  [[nodiscard]] double log_low(double power) const;
  [[nodiscard]] double log_after(double p, double t) const;
  [[nodiscard]] double log_peak(double power) const;
  [[nodiscard]] bool place_panels(const Range& range, double furthest);
  [[nodiscard]] double log_one_variation(const Term& term) const;
  void fill();
  void add_point(bool positive, double s, double s_error, double log_share, double doubt = 0);
  void add_node(double loss, double loss_error, double log_weight, double weight_error);

  double rho_, relative_rho_;
  double rate_, relative_rate_;
  SampledBy sampling_;
  Interval start_;             // encloses s0
  double low_ = 0, high_ = 0;  // the range of the panels
  Cut cut_;
  bool is_cut_ = false;           // the panels reach the cut
  double low_a_ = 0, low_b_ = 0;  // bounds of the masses between the true start and `low_`, under P and Q
  double log_low_b_ = 0;          // the logarithm of the latter, which may underflow
  Interval rest_;                 // the mass at loss 0 of a sample of fixed size
  double unit_error_ = 0;
  std::vector<Panel> panels_;
};

}  // namespace tradeoff::detail
