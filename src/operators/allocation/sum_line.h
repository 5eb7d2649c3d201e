// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "tradeoff/interval.h"

// The expected excess of a sum of independent summands over a strike, by the trapezoidal rule on a vertical line. [allocation-contour]
namespace tradeoff::detail::allocation {

/// A summand X as a function of a standard normal variable x: Y(x) - 1 or 1 - Y(x) with Y(x) = exp(s x - s^2/2) if kappa is 0, otherwise
/// Y(x) - kappa exp(-s x - s^2/2). s and kappa are exact.
struct SumShape {
  double s = 1;
  double kappa = 0;
  bool falling = false;  ///< 1 - Y: puts. Only with kappa = 0

  [[nodiscard]] double value(double x) const;
  /// Y + kappa exp(-s x - s^2/2): the derivative of X is s times this.
  [[nodiscard]] double spread(double x) const;
  /// A bound of the error of `value` if x itself has this error.
  [[nodiscard]] double value_error(double x, double x_error) const;
};

/// The part of the normal variable that is summed: left < x <= right, and with `capped` an atom at X(right) with the probability of what
/// lies beyond. Unless the law is `cut_left`, what lies below `left` belongs to it but is not evaluated: its mass is an error; for a
/// falling X the same holds beyond `right`.
struct SumRange {
  double left = 0;
  double right = 0;
  bool capped = false;
  bool cut_left = false;
};

/// Independent copies of one summand, each restricted to a range.
struct SumFactor {
  SumShape shape;
  SumRange range;
  double times = 1;
};

/// Plain sums over points, for searches: they prove nothing.
class RoughSum {
 public:
  explicit RoughSum(const std::vector<SumFactor>& factors);
  struct Moment {
    double log = 0;  ///< of the sum
    double mean = 0;
    double variance = 0;
  };
  [[nodiscard]] Moment moment(double c) const;
  /// log E e^{cX} of one copy of a factor.
  [[nodiscard]] double log_moment_of(std::size_t factor, double c) const { return laws_[factor].moment(c).log; }
  /// The point c > 0 at which exp(-c strike) M(c) / c^2 is least, and the logarithm of E(sum - strike)+ by the saddle-point formula.
  struct Saddle {
    double c = 0;
    double log_value = 0;
  };
  [[nodiscard]] Saddle saddle(double strike) const;
  /// log |phi(t)| of one copy of the first factor under the tilt c.
  [[nodiscard]] double log_modulus(double c, double t) const;

 private:
  struct Law {
    double times = 1;
    std::vector<double> value, log_weight;
    [[nodiscard]] Moment moment(double c) const;
  };
  std::vector<Law> laws_;
};

/// phi(t) = E e^{(c + it)X} / E e^{cX} of one summand, with proved errors. [allocation-contour]
class TiltedSummand {
 public:
  /// A wanted error of phi at t.
  struct Demand {
    double t = 0;
    double log_error = 0;
  };
  /// The first demand is for the nodes; at the others the mass of a panel may be small instead.
  TiltedSummand(const SumFactor& factor, double c, const std::vector<Demand>& demands);

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] std::size_t size() const { return tilted_.size(); }
  [[nodiscard]] Interval log_moment() const { return log_moment_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// An upper bound of log E e^{order X}.
  [[nodiscard]] double log_moment_above(double order) const;
  /// phi(t) exp(-i t mean): 1 + cosine + i sine, without the error of the quadrature.
  struct Value {
    double cosine = 0, sine = 0, error = 0;
  };
  [[nodiscard]] Value at(double t) const;
  [[nodiscard]] bool reaches(double t) const;
  /// A bound of the error of the quadrature up to t; it rises with t.
  [[nodiscard]] double quadrature_error(double t) const;
  /// The longest d for which |phi| of the points grows by less than `room`.
  [[nodiscard]] double longest_stride(double room) const;
  /// |phi(t)| <= variation / t + atoms for every t > 0.
  [[nodiscard]] double variation() const;
  [[nodiscard]] double atoms() const;
  /// The difference between |phi| of the points and |phi|, up to t.
  [[nodiscard]] double doubt(double t) const;

 private:
  struct Panel {
    double centre = 0, half = 0;
    double mass = std::numeric_limits<double>::infinity();  // a bound of its tilted mass and of the sum of its points together
  };
  [[nodiscard]] double log_panel_error(const Panel& panel, double c, double t) const;
  [[nodiscard]] double log_missing(double c) const;
  [[nodiscard]] bool place_panels(double log_moment, const std::vector<Demand>& demands);
  void add_points();
  void tilt_points();
  void centre_points(const std::vector<double>& error, double doubt, double at_rest);
  void find_strides();

  SumShape shape_;
  SumRange range_;
  double c_;
  bool known_ = false;
  std::vector<Panel> panels_;
  std::vector<double> x_, value_, value_error_, log_weight_, weight_error_;  // the points; the last may be the atom
  std::vector<double> tilted_, centred_;                                     // padded for sum_oscillations
  Interval log_moment_;
  double mean_ = 0;
  double quadratic_error_ = 0, linear_error_ = 0, constant_error_ = 0, reach_ = 0;
  struct Stride {
    double deviation = 0, beyond = 0;
  };
  std::vector<Stride> strides_;
};

/// The line Re z = c: nodes t = 0, step, 2 step, ... of the product of all phi, over z^2. [allocation-contour]
class SumLine {
 public:
  struct Setting {
    double c = 0;
    double step = 0;                         ///< few bits, so that its multiples are exact
    double longest = 0;                      ///< the last node
    double left_order = 0, right_order = 0;  ///< of the bounds of the copies; 0 < left < c < right
    double accuracy = 0;                     ///< the quadrature aims at an error of exp(-accuracy) of one summand
  };
  /// The first factor makes the product small at large t.
  SumLine(const std::vector<SumFactor>& factors, const Setting& setting);

  /// Encloses E(sum - strike)+ for every strike in the interval; [0, infinity] if nothing is known.
  [[nodiscard]] Interval at(Interval strike) const;
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] double work() const { return work_; }

 private:
  struct Node {
    double t = 0, modulus = 0, argument = 0;  // of the product
    double growth = 0;                        // the product of (|phi| + error) over that of |phi|, less 1
    double turns = 0;                         // |log| of the product: rounding of powers
  };
  [[nodiscard]] bool add_nodes(double longest);
  void march();
  void weigh_nodes();

  std::vector<double> times_;
  Setting setting_;
  bool known_ = false;
  double work_ = 0;
  std::vector<TiltedSummand> laws_;
  Interval log_moment_;  // of the sum
  Interval mean_;        // of the centres
  std::vector<Node> nodes_;
  std::vector<double> real_, imaginary_;           // the nodes with their kernels, padded to whole blocks, for every strike
  double size_ = 0, node_error_ = 0, turned_ = 0;  // sums of |weights|, of their errors, and of t |weights|
  double truncation_ = 0;                          // of the sum over nodes, both signs
  double left_moment_ = 0, right_moment_ = 0;
};

}  // namespace tradeoff::detail::allocation
