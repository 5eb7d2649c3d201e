// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/interval.h"

namespace tradeoff::detail::allocation {

/// The random variable X = exp(s z - s^2/2) - kappa exp(-s z - s^2/2), z standard normal, s > 0, kappa >= 0: the contribution of one step
/// to the likelihood ratio of an epoch (kappa = 0) or to the difference of two likelihoods (kappa = e^epsilon). X increases in z; its
/// density is unimodal. [allocation-laws]
class Summand {
 public:
  Summand(double s, double kappa);

  [[nodiscard]] double s() const { return s_; }
  [[nodiscard]] double kappa() const { return kappa_; }
  /// X at z, and its inverse; approximately. The inverse at a value that X never takes is -infinity.
  [[nodiscard]] double value(double z) const;
  [[nodiscard]] double normal(double x) const;
  /// The mode of the density, approximately.
  [[nodiscard]] double mode() const { return mode_; }

  /// The density, with a relative error of at most `relative_error(x)` if x itself has a relative error of one rounding.
  [[nodiscard]] double density(double x) const;
  [[nodiscard]] double relative_error(double x) const;
  /// The derivative of the logarithm of the density, approximately.
  [[nodiscard]] double slope(double x) const;

  /// Enclosures of P(X <= x), P(X > x), E (x - X)+, E (X - x)+.
  [[nodiscard]] Interval below(double x) const;
  [[nodiscard]] Interval above(double x) const;
  [[nodiscard]] Interval put(double x) const;
  [[nodiscard]] Interval call(double x) const;

  /// The mass of the cell [from, from + h], shared between its ends so that its mean is kept. `from` has a relative error of at most one
  /// rounding; the shares are enclosed.
  struct Shares {
    Interval left;
    Interval right;
  };
  [[nodiscard]] Shares shares(double from, double h) const;

 private:
  /// Encloses the z at which X is x.
  [[nodiscard]] Interval exact_normal(double x) const;
  [[nodiscard]] double spread(double x) const;  // exp(s z - s^2/2) + kappa exp(-s z - s^2/2), at the z of x
  [[nodiscard]] Shares exact_shares(double from, double h) const;

  double s_;
  double kappa_;
  double product_;  // 4 kappa exp(-s^2)
  Interval exact_product_;
  double mode_;
};

}  // namespace tradeoff::detail::allocation
