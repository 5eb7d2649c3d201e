// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "loss/transform.h"

namespace tradeoff::detail {

inline constexpr double log_root_two_pi = 0.91893853320467274178;
/// Above this exponent the other terms are negligible against e^x: the sum is kept in logarithms, and e^x is not formed.
inline constexpr double large_exponent = 30;
/// Bounds are exponentials of sums of a few terms. Their rounding and the width of the parameters (relative 1e-13 at most) stay below
/// these.
inline constexpr double bound_slack = 1e-6;
inline constexpr double bound_relative_slack = 1e-9;

/// log of an upper bound of the normal tail 1 - Phi(x), within 1 of it; and the tail itself to 1e-9 where it is moderate.
[[nodiscard]] double log_tail_above(double x);
/// log(e^a + e^b), not rounded outward.
[[nodiscard]] double log_sum(double a, double b);
/// Relative to the upper end; 0 if the upper end is not positive.
[[nodiscard]] inline double relative_width(Interval a) { return a.hi > 0 ? (a.hi - a.lo) / a.hi : 0; }

/// exp(x) - 1 - x, relative error at most 20 u.
[[nodiscard]] double exponential_tail(double x);

/// The distribution of l = log dP/dQ under Q, by points: E_Q[g(l)] is close to sum_j W_j g(l_j). Both directions use powers of w = e^l:
/// remove M(s) = E_Q[w^(1+s)], add M(s) = E_Q[w^(-s)].
struct Nodes {
  std::vector<double> log_weight;        ///< log W_j
  std::vector<double> log_weight_error;  ///< absolute
  std::vector<double> weight;            ///< W_j
  std::vector<double> loss;              ///< l_j
  std::vector<double> loss_error;        ///< absolute, including the width of the parameters
  std::vector<double> loss_tail;         ///< exponential_tail(l_j); infinite if it overflows
};

/// Nodes with a proved bound of the difference between their sums and the expectations.
class NodeLaw {
 public:
  NodeLaw() = default;
  NodeLaw(const NodeLaw&) = delete;
  NodeLaw& operator=(const NodeLaw&) = delete;
  virtual ~NodeLaw() = default;

  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  /// Which sum: over the first `count` nodes, compared with the whole expectation or (without `tail`) with its part up to the middle after
  /// them. A bound below `enough` need not be improved.
  struct Sum {
    std::size_t count;
    bool tail = true;
    double enough = -std::numeric_limits<double>::infinity();
  };
  /// log of a bound of |sum_j W_j w_j^(p + iy) - E_Q[w^(p + iy)]| for every |y| <= t.
  [[nodiscard]] virtual double log_error(double power, double t, const Sum& sum) const = 0;
  [[nodiscard]] double log_error(double power, double t) const { return log_error(power, t, {nodes_.loss.size()}); }
  /// A bound of |sum_j W_j - 1| and of |sum_j W_j w_j - 1|.
  [[nodiscard]] virtual double unit_error() const = 0;

  /// log E_Q[w^p] and its derivatives in p, as plain doubles.
  [[nodiscard]] Cumulant cumulant(double power) const;
  /// A proved upper bound of log E_Q[w^p].
  [[nodiscard]] double log_moment_above(double power) const;

 protected:
  /// The evaluator drops negligible nodes at both ends of the list.
  void sort_by_loss();

  Nodes nodes_;
};

/// The distribution of l tilted by w^p, with all rounding errors and the quadrature error included. [contour-rounding]
class NodeTilt : public TiltedLoss {
 public:
  /// `sign` is +1 if the loss is l, -1 if it is -l. Nodes whose tilted weight is below `negligible` are dropped; their weight is added to
  /// the error.
  NodeTilt(const NodeLaw& law, double power, int sign, double negligible);

  [[nodiscard]] Interval log_moment() const override { return {log_moment_ - log_moment_error_, log_moment_ + log_moment_error_}; }
  [[nodiscard]] double centre() const override { return sign_ * mean_; }
  [[nodiscard]] double deviation_above() const override { return deviation_above_; }
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override;
  [[nodiscard]] std::size_t size() const override { return kept_weight_.size(); }

  /// The terms of the error of phi(t), for tests and certificates: at most quadratic t^2 + linear t + constant + quadrature(t).
  struct ErrorTerms {
    double quadratic = 0;   ///< rounding of nodes, weights and sums
    double linear = 0;      ///< error of the tilted mean, dropped nodes
    double constant = 0;    ///< dropped nodes and the quadrature error of the normalisation
    double log_moment = 0;  ///< rounding and quadrature error of log M
  };
  [[nodiscard]] ErrorTerms error_terms() const { return {quadratic_error_, linear_error_, constant_error_, log_moment_error_}; }
  [[nodiscard]] double mean() const { return mean_; }

 protected:
  [[nodiscard]] const NodeLaw& law() const { return law_; }
  [[nodiscard]] double power() const { return power_; }
  /// phi(t); its quadrature bound is improved only to `enough` times 1 - |phi(t)|.
  [[nodiscard]] CharacteristicValue oscillation(double t, double enough) const;
  /// The logarithm of a quadrature error that is negligible relative to M(p).
  [[nodiscard]] double log_enough(double relative) const { return log_moment_ + std::log(relative); }
  /// exp(log_bound) in units of M(p), rounded up.
  [[nodiscard]] double relative(double log_bound) const;
  /// Padded to whole vectors; the first kept node is number `first_kept()`.
  [[nodiscard]] const std::vector<double>& kept_weight() const { return kept_weight_; }
  /// A bound of E[(L - centre)^2; some nodes] from the sum over those nodes and the quadrature error near the power.
  [[nodiscard]] double second_moment_above(double node_sum, const NodeLaw::Sum& sum) const;
  [[nodiscard]] const std::vector<double>& kept_loss() const { return kept_loss_; }
  [[nodiscard]] std::size_t first_kept() const { return first_kept_; }

 private:
  [[nodiscard]] double quadrature_error(double t, double enough) const;
  [[nodiscard]] CharacteristicValue sum_at(double t, double quadrature) const;
  [[nodiscard]] CharacteristicValue sum_near(double t, double quadrature) const;
  void find_weights();
  void find_log_moment(double rough);
  void find_mean(double rough);
  void find_spread();
  void keep(double negligible);
  void find_far();

  const NodeLaw& law_;
  double power_;
  int sign_;
  std::vector<double> tilted_;        // normalised
  std::vector<double> tilted_error_;  // relative, including the normalisation
  double sum_error_ = 0;              // relative error of the normalising sum
  double log_moment_ = 0;
  double log_moment_error_ = 0;
  double mean_ = 0;
  double mean_error_ = 0;
  double deviation_above_ = 0;
  double quadratic_error_ = 0;
  double linear_error_ = 0;
  double constant_error_ = 0;
  double far_constant_ = 0, far_linear_ = 0;  // in place of the linear and the quadratic error where t is large
  double residual_ = 0;                       // the first moment of the kept nodes
  std::size_t first_kept_ = 0;
  std::size_t end_kept_ = 0;
  double kept_reach_ = 0;  // largest |l - mean| of a kept node
  std::vector<double> kept_weight_;
  std::vector<double> kept_loss_;
};

}  // namespace tradeoff::detail
