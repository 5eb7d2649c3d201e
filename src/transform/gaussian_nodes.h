// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "transform/nodes.h"

namespace tradeoff::detail {

/// Nodes z_j = jh of the trapezoidal rule for Q = N(0,1), with the loss l(z) = log(1 - q + q exp(mu z - mu^2/2)) of the Poisson-sampled
/// Gaussian and a bound of the error for every power. [node-quadrature]
class GaussianNodes final : public NodeLaw {
 public:
  /// The powers that will be used: the nodes extend far enough for all of them, to exp(-accuracy) of each moment.
  struct Range {
    double least_power;
    double largest_power;
    double accuracy;
    double shrink;   ///< factor on the step
    double power;    ///< the power at which phi will be evaluated,
    double longest;  ///< up to this t
    bool rough;      ///< no bounds will be needed
  };
  GaussianNodes(Interval mu, Interval rate, const Range& range);
  /// If more nodes than this were needed, the list stays empty, because they would cost too much.
  static constexpr std::size_t most_nodes = 20000;

  using NodeLaw::log_error;
  [[nodiscard]] double log_error(double power, double t, const Sum& sum) const override;
  [[nodiscard]] double unit_error() const override { return unit_error_; }

  /// log of a bound of the tilted mass E_Q[w^p; z < z_j].
  [[nodiscard]] double log_mass_below(double power, std::size_t j) const;
  /// log of the density of l at z_j against w^p, and of bounds of it left and right of all nodes.
  [[nodiscard]] double log_density(double power, std::size_t j) const;
  [[nodiscard]] double log_density_left(double power) const;
  [[nodiscard]] double log_density_right(double power) const;
  /// A bound of -(d/dz)^2 log density, times h^2/8: the largest value exceeds the largest node by at most this, in logarithms.
  /// [loss-variation]
  [[nodiscard]] double log_density_excess(double power) const;
  /// The possible number of maxima of the density: 1 or 2.
  [[nodiscard]] int maxima(double power) const;
  [[nodiscard]] double low() const { return position_.front(); }
  [[nodiscard]] double high() const { return position_.back(); }
  /// The number of nodes with t l'(z) h below `phase`.
  [[nodiscard]] std::size_t resolved(double t, double phase) const;

 private:
  struct Shift {                    // a horizontal line Im z = +-a of the rectangle, a = theta/mu
    double height = 0;              // a
    double log_factor = 0;          // a^2/2 - log(e^(2 pi a/h) - 1)
    double log_length = 0;          // log 2a/sqrt(2 pi), of a vertical side
    double log_half_cosine = 0;     // log cos(theta/2)
    double cosine = 1;              // cos theta
    std::vector<double> curvature;  // bound of |d^2 log w / dz^2| h^2/8 on the cells
    std::vector<double> argument;   // arg w(z + ia) at the ends of the cells
    std::vector<double> modulus;    // log |w(z + ia)| there, if powers may be negative
  };
  [[nodiscard]] double loss_at(double z) const;
  [[nodiscard]] double log_side(double power, double t, std::size_t end, const Shift& shift) const;
  [[nodiscard]] double log_cells(double power, double t, std::size_t count, const Shift& shift) const;
  [[nodiscard]] double log_left_tail(double power, double z, double loss) const;
  [[nodiscard]] double log_right_tail(double power, double z, double loss) const;
  /// Calls piece(start, loss there, slope) for intervals that cover the half line right of z.
  template <class Piece>
  void for_each_right_piece(double power, double z, double loss, Piece&& piece) const;
  [[nodiscard]] double choose_step(const Range& range);
  [[nodiscard]] bool choose_range(const Range& range, double& left, double& right) const;
  void fill(std::int64_t first, std::int64_t last);
  [[nodiscard]] Shift make_shift(double height) const;

  double mu_;
  double rate_;
  double relative_mu_;  // half widths of the parameters
  double relative_rate_;
  bool negative_powers_;  // bounds for negative powers will be needed
  double step_ = 0;
  double unit_error_ = 0;
  std::vector<double> position_;                              // z_j
  std::vector<double> share_;                                 // pi(z_j) = l'(z_j)/mu
  std::vector<double> end_loss_;                              // l at the ends z_j - h/2 of the cells, one more than nodes
  std::vector<double> end_square_;                            // z^2/2 there
  std::vector<double> end_ratio_;                             // r = q e^(mu z - mu^2/2) there
  std::vector<double> cell_cosh_;                             // the least cosh log(r/(1-q)) on each cell
  std::vector<double> heights_;                               // of the shifts
  static constexpr std::array shares_{0.75, 0.5, 0.95, 0.3};  // of the largest height, the likeliest first
  mutable std::array<Shift, shares_.size()> shifts_;          // each computed at its first use
  mutable std::array<std::once_flag, shares_.size()> made_;
};

}  // namespace tradeoff::detail
