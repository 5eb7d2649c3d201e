// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/moments/log_moment.h"
#include "engine/part.h"
#include "loss/question_scope.h"

namespace tradeoff::detail {

/// What is asked of a bound that may be small enough: the bound of the first order that shows it, or about the least.
enum class AtMost { first, least };

/// The bound of Renyi accounting on a composition: the divergences of the parts add, and the best order is converted. A part may be a pair
/// or a stated bound on divergences. It holds for every mechanism that the parts cover. [renyi-conversion]
class RenyiSum {
 public:
  explicit RenyiSum(Parts parts);

  /// Encloses the logarithm of the bound at epsilon; the upper end may be claimed.
  [[nodiscard]] Interval log_delta(Direction direction, double epsilon) const;
  /// The logarithm of the bound at an epsilon above 0, if it is at most `most`; otherwise empty after a few orders.
  [[nodiscard]] std::optional<double> log_delta_if_at_most(double most, Direction direction, double epsilon, AtMost wanted) const;
  /// A straight line above the logarithm of the bound on [start, end], 0 <= start <= end: the conversion at one order. [divergence-line]
  [[nodiscard]] std::optional<LogLine> line(Direction direction, double start, double end) const;
  /// Encloses the epsilon >= 0 of the bound; infinite if no order gives anything.
  [[nodiscard]] Interval epsilon(Direction direction, Interval log_delta) const;

 private:
  /// The least value of a conversion over the orders tried, and its order less one.
  struct Best {
    Interval value;
    double s;
  };
  template <class Convert>
  [[nodiscard]] Best best_of(Convert&& convert) const;
  [[nodiscard]] Interval cumulant(Direction direction, double s, MomentDigits digits = MomentDigits::usual) const;
  [[nodiscard]] Interval exponent(Direction direction, double s, double epsilon, MomentDigits digits = MomentDigits::usual) const;
  [[nodiscard]] double least_exponent(Direction direction, double s, double epsilon) const;
  [[nodiscard]] double below_by_chords(Direction direction, double s, double epsilon) const;
  [[nodiscard]] double below_at_the_end(Direction direction, double epsilon) const;
  [[nodiscard]] double bend_near(Direction direction, double s, double epsilon) const;
  [[nodiscard]] double nearer_order(Direction direction, double s, double epsilon) const;
  [[nodiscard]] Interval epsilon_at(Direction direction, double s, Interval log_delta) const;
  [[nodiscard]] double below_by_lines(Direction direction, double s, double epsilon) const;
  [[nodiscard]] double small_order(Direction direction, double epsilon) const;
  [[nodiscard]] Interval near_order(Direction direction, double s, double epsilon) const;
  [[nodiscard]] bool reveals(Direction direction) const;
  void cite() const;

  Parts parts_;
  double steps_ = 0;
  std::vector<double> corners_;                           ///< orders, less one, at which a stated bound has a corner
  double end_ = std::numeric_limits<double>::infinity();  ///< the divergences of larger orders, less one, are not known
  bool symmetric_ = true;
  std::uint64_t number_ = QuestionScope::new_owner();  // identifies the divergences kept for a question
};

}  // namespace tradeoff::detail
