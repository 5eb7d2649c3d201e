// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/contour/split_plan.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::rare {

/// The minimum over the order of log transform - order epsilon - log order (order + 1), and the value of the integral that it suggests.
struct SplitSaddle {
  double order, log_value, curvature;
  [[nodiscard]] double log_integral() const;
};

/// One of the two positive measures of a split plan, inverted by the trapezoidal sum on a vertical line: its part of delta. [rare-losses]
class SplitLine {
 public:
  enum class Of {
    bulk,  ///< the runs without large losses
    rare   ///< the runs with at least one
  };
  /// The part of delta is exp(scale) [value - nodes - truncation - alias, value + nodes + truncation].
  struct Value {
    Interval scale;
    double value = 0;
    double slope = 0;  ///< of value in epsilon, approximately
    double nodes = 0, truncation = 0, alias = 0;
    [[nodiscard]] double above() const { return value + nodes + truncation; }
    [[nodiscard]] double below() const { return value - nodes - truncation - alias; }
  };
  /// A line for answers near this epsilon, whose errors are small against exp(log_wanted). Null if it would need too many nodes.
  [[nodiscard]] static std::shared_ptr<const SplitLine> make(const SplitPlan& plan, Of part, double epsilon, const SplitSaddle& saddle,
                                                             double log_wanted, const RareAccuracy& accuracy);
  [[nodiscard]] Value at(double epsilon) const;
  [[nodiscard]] double order() const { return order_; }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] std::size_t nodes() const { return terms_.size(); }
  [[nodiscard]] std::size_t points() const { return points_; }

 private:
  struct Chernoff {
    double order, log_moment;
  };
  void choose_step(const SplitPlan& plan, double epsilon, double log_wanted, double curvature);
  void truncate(const SplitPlan& plan, double log_wanted, double first);
  [[nodiscard]] bool sum(const SplitPlan& plan, double longest);
  [[nodiscard]] double count() const { return std::ceil(longest_ / step_); }
  void add_term(Complex bulk, double bulk_error, Complex rare, double rare_error);

  Of part_ = Of::bulk;
  double order_ = 0, step_ = 0, window_ = 0, longest_ = 0;
  double log_scale_ = 0;                 // of the terms
  std::vector<Complex> terms_;           // transform over s(s+1) at t = k step, without e^(-s epsilon)
  double error_ = 0, moving_error_ = 0;  // of their sum: constant, and per unit of epsilon
  double size_ = 0;
  double log_truncation_ = infinity;  // in units of 1
  std::vector<Chernoff> left_, right_, more_;
  std::size_t points_ = 0;
};

/// The saddle point of a part between two orders, by golden section. Guides only.
[[nodiscard]] SplitSaddle find_saddle(const SplitPlan& plan, SplitLine::Of part, double epsilon, double low, double high);
/// A smaller order at which the integrand is still at most exp(log_largest), or the saddle point itself.
[[nodiscard]] SplitSaddle below_saddle(const SplitPlan& plan, SplitLine::Of part, double epsilon, const SplitSaddle& saddle,
                                       double log_largest);

}  // namespace tradeoff::detail::rare
