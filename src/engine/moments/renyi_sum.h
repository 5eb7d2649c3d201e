// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/part.h"
#include "loss/question_scope.h"

namespace tradeoff::detail {

/// The bound of Renyi accounting on a composition: the divergences of the parts add, and the best order is converted. A part may be a pair
/// or a stated bound on divergences. It holds for every mechanism that the parts cover. [renyi-conversion]
class RenyiSum {
 public:
  explicit RenyiSum(Parts parts);

  /// Encloses the logarithm of the bound at epsilon; the upper end may be claimed.
  [[nodiscard]] Interval log_delta(Direction direction, double epsilon) const;
  /// Encloses the epsilon >= 0 of the bound; infinite if no order gives anything.
  [[nodiscard]] Interval epsilon(Direction direction, Interval log_delta) const;

 private:
  [[nodiscard]] Interval cumulant(Direction direction, double s) const;
  [[nodiscard]] Interval exponent(Direction direction, double s, double epsilon) const;
  [[nodiscard]] double least_exponent(Direction direction, double s, double epsilon) const;
  [[nodiscard]] double below_by_chords(Direction direction, double s, double epsilon) const;
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
  bool symmetric_ = true;
  std::uint64_t number_ = QuestionScope::new_owner();  // identifies the divergences kept for a question
};

}  // namespace tradeoff::detail
