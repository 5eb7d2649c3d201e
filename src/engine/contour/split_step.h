// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "numeric/arithmetic.h"

// Poisson-sampled Gaussian steps, direction remove, whose noise is split by a smooth window into a bulk and a tail. [rare-losses]
namespace tradeoff::detail::rare {

using Complex = std::complex<double>;

/// One kind of step: N(0,1) against (1 - rate) N(0,1) + rate N(mu,1), run `times` times.
struct RareKind {
  double mu, rate, relative_mu, relative_rate, times;
};

[[nodiscard]] inline double log_add(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

/// log of the supremum of (1 - e^-x) e^-sx over x > 0.
[[nodiscard]] inline double log_kernel_bound(double s) { return s <= 0 ? 0 : s * std::log(s) - (1 + s) * std::log1p(s); }

[[nodiscard]] inline double log_expm1_of(double x) { return x > 40 ? x : std::log(std::expm1(x)); }

/// The largest number of this many bits below x.
[[nodiscard]] double few_bits_below(double x, int bits);
/// e^z - 1, and log(1 + z) off the negative axis.
[[nodiscard]] Complex exp_less_one(Complex z);
[[nodiscard]] inline Complex log_one_plus(Complex z) {
  return {0.5 * std::log1p(2 * z.real() + std::norm(z)), std::atan2(z.imag(), 1 + z.real())};
}

/// A complex number and a bound of its error.
struct Enclosed {
  Complex value;
  double error = 0;
};

/// Where the noise of one kind of step is split: noise z is above with the weight Phi((z - centre)/width).
struct NoiseWindow {
  double centre, width;
};

/// The parts of a step: noise z is in the bulk as far as it is below the window, and in the tail as far as it is above. What is above both
/// the window and a second, upper one is in neither. Quadrature by the trapezoidal rule in z, with error bounds by lines parallel to the
/// axis. [rare-losses]
class SplitStep {
 public:
  enum class Share { bulk, tail };

  SplitStep(const RareKind& kind, NoiseWindow window, std::optional<NoiseWindow> upper, double largest_power, double step);

  [[nodiscard]] bool usable() const { return !loss_.empty(); }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] double loss_at(double z) const;
  /// An upper bound of log E[weight w^power], and an approximation of it; the bulk less 1 and the tail, in plain doubles.
  [[nodiscard]] double log_moment_above(Share share, double power) const;
  [[nodiscard]] double bulk_less_one(double power) const;
  [[nodiscard]] double log_tail(double power) const;
  /// log of a bound of |E[weight w^(power + iy)]| for every y >= t.
  [[nodiscard]] double log_beyond(Share share, double power, double t) const;
  /// log of a bound of the quadrature error of E[weight w^(power + iy)] for every |y| <= t.
  [[nodiscard]] double log_missed(Share share, double power, double t) const;

  /// E[bulk w^(power + it)] - 1 at t = 0, step, 2 step, ... up to the longest, by the nodes on the axis.
  class BulkTilt {
   public:
    BulkTilt(const SplitStep& step, double power, double time_step, double longest);
    /// The value at the next t.
    [[nodiscard]] Enclosed next();
    [[nodiscard]] std::size_t points() const { return weight_.size(); }
    [[nodiscard]] double missed() const { return missed_; }

   private:
    double power_, time_step_, missed_;
    std::size_t count_ = 0;
    std::vector<double> weight_, loss_;
    double constant_ = 0, linear_ = 0;                                 // the value at t = 0, and the first moment
    double constant_error_ = 0, linear_error_ = 0, square_error_ = 0;  // of 1, P and P^2, P = power + t
  };
  /// The same by nodes above the axis, for long t: there the phases decay, and the quadrature error is the same for every t >= 0.
  class RaisedBulk {
   public:
    RaisedBulk(const SplitStep& step, double power, double time_step, double longest);
    [[nodiscard]] Enclosed next();
    [[nodiscard]] std::size_t points() const { return weight_.size(); }
    [[nodiscard]] double missed() const { return missed_; }

   private:
    double power_, time_step_, missed_, lost_;
    std::size_t count_ = 0;
    std::vector<Complex> weight_, loss_;
    std::vector<double> real_, imaginary_, turn_real_, turn_imaginary_, move_real_, move_imaginary_;
    double constant_error_ = 0, linear_error_ = 0;  // of 1 and of P
  };
  /// E[tail w^(power + it)] e^-log_scale at t = 0, step, 2 step, ..., by nodes above the axis: there the phases decay, and the quadrature
  /// error is the same for every t >= 0.
  class TailTilt {
   public:
    TailTilt(const SplitStep& step, double power, double time_step);
    /// The value at the next t.
    [[nodiscard]] Enclosed next();
    [[nodiscard]] double log_scale() const { return log_scale_; }
    [[nodiscard]] std::size_t points() const { return loss_.size(); }

   private:
    double time_step_;
    std::size_t count_ = 0;
    double log_scale_ = -infinity;
    std::vector<Complex> weight_, loss_;
    std::vector<double> real_, imaginary_, turn_real_, turn_imaginary_;
    double constant_error_ = 0, linear_error_ = 0;
  };

 private:
  static constexpr std::size_t fresh_every = 16;  // phases are multiplied from t to t + step, and computed anew after so many
  struct Ends {
    std::size_t first, last;  // nodes, the last included
  };
  [[nodiscard]] double argument_at(std::size_t end, double height) const;
  [[nodiscard]] Ends ends(Share share) const { return share == Share::bulk ? Ends{0, bulk_last_} : Ends{tail_first_, loss_.size() - 1}; }
  [[nodiscard]] double edge(std::size_t end) const { return (static_cast<double>(first_ + static_cast<std::int64_t>(end)) - 0.5) * step_; }
  /// The narrowest window of a share.
  [[nodiscard]] double narrowest(Share share) const { return share == Share::tail && upper_ ? std::min(width_, upper_->width) : width_; }
  /// log of a bound of the weight at height y above the part [left, right] of the axis.
  [[nodiscard]] double log_weight_above(Share share, double left, double right, double height) const;
  /// log of a bound of the integral of the modulus at a height, beyond the nodes; without phases.
  [[nodiscard]] double log_outside(Share share, double power, double height) const;
  [[nodiscard]] double log_right_of(Share share, double right, double power, double height) const;
  /// log of a bound of the integral over the cells; the phase contributes exp(turn * arg w), at the end of a cell where that is larger.
  [[nodiscard]] double log_cells(Share share, double power, double turn, double height) const;
  /// What a height makes of the cells of a share, for all powers and times.
  struct Raised {
    Share share;
    double height;
    std::vector<double> log_size;  // of the Gaussian and the weight, on each cell
    std::vector<double> argument;  // of w, at the edges; empty until a phase is asked for
  };
  [[nodiscard]] const Raised& raised(Share share, double height, bool phases) const;
  /// log of a bound of the quadrature error on the line at this height, for every t >= 0.
  [[nodiscard]] double log_missed_above(Share share, double power, double height) const;
  struct LossAbove {
    Complex loss;
    double error;
  };
  [[nodiscard]] LossAbove loss_above(double x, double height) const;
  /// A node above the axis: logarithm and phase of its weight, and a bound of their errors together.
  struct NodeAbove {
    double log, phase, error;
    LossAbove loss;
  };
  [[nodiscard]] NodeAbove node_above(Share share, std::size_t j, double height) const;

  double mu_, rate_, relative_mu_, relative_rate_, centre_, width_, step_;
  std::optional<NoiseWindow> upper_;
  std::int64_t first_ = 0;
  std::size_t bulk_last_ = 0, tail_first_ = 0;
  double lost_ = 0, lost_error_ = 0;  // E[tail weight] under Q
  double largest_height_;
  std::vector<double> loss_, loss_error_, bulk_weight_, tail_, log_weight_, bulk_error_, tail_error_;  // at the nodes; errors relative
  std::vector<double> log_tail_weight_;         // of the nodes of the tail, approximately
  std::vector<double> edge_loss_, edge_ratio_;  // between them
  std::vector<double> log_gaussian_;            // a bound of the mean of exp(-z^2/2) on each cell
  mutable std::vector<Raised> raised_;          // kept, because a search asks for the same heights again; a step belongs to one thread
};

}  // namespace tradeoff::detail::rare
