// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tradeoff::detail::allocation {

/// Bounds of the tails of a mean of n independent lognormal variables Y = exp(s z - s^2/2), z standard normal: Chernoff's, for large
/// values with Y cut. The bounds are logarithms and hold for every n; where none is known they are 0. [allocation-tails]
class MeanTails {
 public:
  explicit MeanTails(double s);

  /// Chernoff's bound n (order exp(x) + log_moment) of log P(mean <= exp(x)) for every x and n: best at one x, good near it.
  struct Line {
    double order = 0;
    double log_moment = 0;
    [[nodiscard]] double log_below(double n, double x) const;
  };
  [[nodiscard]] Line line_below(double x) const;
  /// log P(mean <= exp(x)).
  [[nodiscard]] double log_below(double n, double x) const;
  /// log P(mean > exp(x)), and log E(mean; mean > exp(x)).
  [[nodiscard]] double log_above(double n, double x) const { return log_mean_above(n, x) - x; }
  [[nodiscard]] double log_mean_above(double n, double x) const;
  /// About the x at which log_below, log_above and log_mean_above fall to this value, which is negative.
  [[nodiscard]] double left_end(double n, double log_probability) const;
  [[nodiscard]] double right_end(double n, double log_probability) const;
  [[nodiscard]] double right_end_of_mean(double n, double log_mean) const;

 private:
  struct Moment {
    double log = 0;   // of the mass
    double mean = 0;  // of Y
  };
  /// The tilted law exp(order Y) of the masses up to `count`.
  [[nodiscard]] Moment tilted(double order, std::size_t count) const;
  [[nodiscard]] double right_end_of_jump(double n, double z, double log_mass) const;
  [[nodiscard]] double log_bulk_above(double n, double mean, std::size_t count) const;
  [[nodiscard]] double largest_order() const { return 1e3 / value_[1]; }

  double s_;
  std::vector<double> value_, log_mass_;  // Y spread to the ends of cells, so that its mean in every cell is kept
  double log_slack_ = 0;                  // of the rounding of masses and sums, for one variable
};

}  // namespace tradeoff::detail::allocation
