// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/exact/law.h"
#include "engine/exact/wide_interval.h"
#include "loss/loss.h"

namespace tradeoff::detail::exact {

/// Masses outside the normalised finite distribution.
struct Masses {
  Interval infinite;        ///< P(L = +infinity)
  Interval other_infinite;  ///< Q(L = -infinity)
  Interval finite{1, 1};    ///< P(L finite): the factor of the listed masses
  double slack = 0;         ///< delta may be smaller by this factor, in the logarithm; beta larger by this probability
};

/// delta and its logarithm from its finite part.
[[nodiscard]] Interval delta_from(Ends finite, const Masses& masses);
[[nodiscard]] Interval log_delta_from(Ends finite, const Masses& masses);
/// log(1 - delta) from what delta leaves of the finite part.
[[nodiscard]] Interval log_complement_from(Ends rest, const Masses& masses);

/// [atom-kernel] Answers from a finite distribution: one pass over the sorted points, then one search per question.
class Table {
 public:
  Table(Law law, Masses masses);

  [[nodiscard]] Interval delta(Interval epsilon) const { return delta_from(finite_delta(epsilon), masses_); }
  [[nodiscard]] Interval log_delta(Interval epsilon) const { return log_delta_from(finite_delta(epsilon), masses_); }
  /// log(1 - delta), with all digits where delta is close to 1.
  [[nodiscard]] Interval log_complement(double epsilon) const;
  /// inf{e >= 0 : delta(e) <= delta}.
  [[nodiscard]] Interval epsilon(Interval delta) const;
  /// Least type II error at type I error alpha, null Q, alternative P.
  [[nodiscard]] Interval beta(Interval alpha) const;
  /// Q(L > e) and P(L > e).
  [[nodiscard]] Loss::Test test(double epsilon) const;
  /// The losses >= 0, decreasing: the corners of delta as a function of exp(epsilon).
  [[nodiscard]] std::vector<Interval> corners() const;

  /// The sum over the points of mass * gain(epsilon - loss): the gain of the product distribution, without listing it. The log error is the
  /// table's `spread` plus one unit for each point.
  [[nodiscard]] Wide gain_with(const std::vector<Point>& points, double epsilon) const;
  /// P(L >= epsilon) and Q(L >= epsilon) of the product distribution, finite parts, in the same way.
  struct Tails {
    Wide detected = 0;
    Wide accused = 0;
  };
  [[nodiscard]] Tails tails_with(const std::vector<Point>& points, double epsilon) const;
  /// The sum of mass * min(1, exp(epsilon - loss)) of the product distribution, in the same way.
  [[nodiscard]] Wide rest_with(const std::vector<Point>& points, double epsilon) const;

  /// The log error of every gain and tail computed from the table.
  [[nodiscard]] double spread() const { return spread_; }
  [[nodiscard]] const Law& law() const { return law_; }
  [[nodiscard]] const Masses& masses() const { return masses_; }

 private:
  /// The sum of mass * (1 - exp(e - loss))+ over the listed points, and the epsilon at which it has a given value.
  [[nodiscard]] Wide gain(double epsilon) const;
  [[nodiscard]] double inverse_gain(Wide value) const;
  /// Number of points with loss >= epsilon.
  [[nodiscard]] std::size_t count_from(double epsilon) const;
  [[nodiscard]] Ends finite_delta(Interval epsilon) const;
  [[nodiscard]] double epsilon_below(double delta) const;
  [[nodiscard]] double epsilon_above(double delta) const;
  void sum_from_below() const;
  /// The sum of mass * min(1, exp(e - loss)) over the listed points, of which this many have a loss of at least e.
  [[nodiscard]] Wide rest(std::size_t above, Wide epsilon) const;
  [[nodiscard]] Wide false_positive(std::size_t last) const;
  /// The least P-mass accepted by a test that rejects at most this Q-mass, and by one that accepts at least this Q-mass.
  [[nodiscard]] Wide miss_when_rejecting(Wide false_positive) const;
  [[nodiscard]] Wide miss_when_accepting(Wide true_negative) const;
  [[nodiscard]] Interval beta_by_rejection(Interval alpha) const;
  [[nodiscard]] Interval beta_by_acceptance(Interval alpha) const;

  Law law_;
  Masses masses_;
  std::vector<Wide> gain_;    // gain at each loss: d_j of the kernel
  std::vector<Wide> weight_;  // exp(loss) * Q(L >= loss): V_j of the kernel
  double spread_ = 0;         // log error of gain_ and weight_
  mutable std::once_flag summed_;
  mutable std::vector<Wide> miss_;  // P(L < loss) and Q(L < loss) of the listed points, summed from below
  mutable std::vector<Wide> accept_;
  Wide other_lost_ = 0;  // Q-mass that is not listed
};

}  // namespace tradeoff::detail::exact
