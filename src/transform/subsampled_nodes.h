// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "loss/break_points.h"
#include "tradeoff/interval.h"
#include "transform/nodes.h"
#include "transform/panel_range.h"

namespace tradeoff::detail {

/// The distribution of the loss x of a symmetric base under Q: a density, N(-mu^2/2, mu^2) on the whole line or coefficient * exp(-x/2) on
/// [-largest, largest]; in the second case also atoms at both ends, the upper one exp(-largest) times the lower one; and a mass where P
/// vanishes.
struct SampledBase {
  std::optional<Interval> mu;               ///< of a Gaussian; empty for Laplace noise, whole or truncated
  Interval largest;                         ///< the largest finite loss
  Interval atom = Interval::exactly(0);     ///< the atom at -largest
  Interval coefficient;                     ///< of the density
  Interval missing = Interval::exactly(0);  ///< mass of x = -infinity under Q, and of x = +infinity under P
};

/// 1 - 2 Q(x > 0): the mass with loss 0 of a sample of fixed size, in units of 1 - rate.
[[nodiscard]] Interval neither(const SampledBase& base);

/// The distribution of the sampled loss l = log(1 - rate + rate e^x) by Gauss-Legendre panels in x, with a bound of the error for every
/// power. Under fixed-size sampling only the half x > 0 is used: l keeps its mass, -l gets w times it, and the rest has loss 0. If P has
/// infinite losses, the pair is conditioned on finite losses and `shift` is added to l, so that both are probability distributions.
/// [subsampled-transform]
class SubsampledNodes final : public NodeLaw {
 public:
  using Range = PanelRange;
  SubsampledNodes(const SampledBase& base, Interval rate, SampledBy sampling, const Range& range);
  /// If more panels than this were needed, the list stays empty, because they would cost too much.
  static constexpr std::size_t most_panels = 600;

  using NodeLaw::log_error;
  [[nodiscard]] double log_error(double power, double t, const Sum& sum) const override;
  [[nodiscard]] double unit_error() const override { return unit_error_; }

  /// The number added to every l, so that E_Q[w] = 1.
  [[nodiscard]] Interval shift() const { return shift_; }
  /// Whether every atom is one of the base's, or the one at loss 0 of a sample of fixed size.
  [[nodiscard]] bool lists_atoms() const { return !(base_.missing.hi > 0); }
  /// log of a bound of the tilted mass E_Q[w^p] of all atoms.
  [[nodiscard]] double log_atoms(double power) const;
  /// The atoms against w^p, in units of exp(log_moment).
  struct TiltedAtom {
    double mass;  // from above
    double loss;
    double loss_error;
    double doubt;  // of the mass, relative
  };
  [[nodiscard]] std::vector<TiltedAtom> tilted_atoms(double power, double log_moment) const;
  /// log of a bound of the total variation, jumps included, of the density of l against w^p.
  [[nodiscard]] double log_variation(double power) const;

 private:
  struct Ellipse {           // Bernstein's ellipse around a panel
    double log_factor;       // of the error bound, half length of the panel included
    double log_density;      // the largest |density| on it
    double log_ratio_left;   // the least log |w|
    double log_ratio_right;  // the largest
    double argument;         // the largest arg w
  };
  struct Panel {
    double centre;
    double half;
    std::vector<Ellipse> ellipses;
  };
  [[nodiscard]] double loss_at(double x) const;
  /// log of the density at x, and its largest value on [left, right] + i[-height, height].
  [[nodiscard]] double log_density(double x) const;
  [[nodiscard]] double log_density_above(double left, double right, double height) const;
  [[nodiscard]] Panel make_panel(double left, double right) const;
  [[nodiscard]] static double log_panel_error(const Panel& panel, double power, double t);
  [[nodiscard]] double log_tail(double power) const;
  [[nodiscard]] double log_one_error(double power, double t) const;
  [[nodiscard]] double log_value_beyond(double power) const;
  [[nodiscard]] double log_one_variation(double power) const;
  [[nodiscard]] double log_peak(double power) const;
  [[nodiscard]] bool place_panels(const Range& range, double furthest);
  void fill();
  void add_point(double x, double x_error, double log_weight, double weight_error);
  void add_node(double loss, double loss_error, double log_weight, double weight_error);
  void add_atom(double x, double x_error, Interval mass);
  void note_atoms(std::size_t first);

  SampledBase base_;
  SampledBy sampling_;
  double rate_, relative_rate_;
  double mu_ = 0, relative_mu_ = 0;  // of a Gaussian base
  double largest_ = 0, coefficient_ = 0, width_ = 0;
  double low_ = 0, high_ = 0;  // the range of the panels
  Interval shift_ = Interval::exactly(0);
  Interval scale_ = Interval::exactly(1);  // of all masses
  double log_scale_ = 0;                   // an upper bound
  double unit_error_ = 0;
  std::vector<Panel> panels_;
  struct AtomMass {
    double loss;
    double log_mass;    // from above
    double loss_error;  // absolute
    double doubt;       // of the mass, relative
  };
  std::vector<AtomMass> atoms_;
};

}  // namespace tradeoff::detail
