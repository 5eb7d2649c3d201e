// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// The profile that a question refers to, for all real epsilon: one direction of a loss, or the larger of both directions for epsilon >= 0,
/// continued to negative epsilon by its mirror, so that it is symmetric.
class Profile {
 public:
  Profile(const Loss& loss, Direction direction)
      : loss_(asked(loss, direction)), bracket_(loss_.capabilities(Direction::remove).bracket), direction_(direction) {}

  /// The pairs between which the profile lies, if only they are known: then a question is put to each of them. [bracketed-pair]
  [[nodiscard]] const Bracket* bracket() const { return bracket_; }
  [[nodiscard]] Direction direction() const { return direction_; }

  [[nodiscard]] Interval delta(Interval epsilon) const;
  [[nodiscard]] Interval log_delta(Interval epsilon) const;
  /// The profile of the swapped pair; the same one if the profile is symmetric.
  [[nodiscard]] Interval swapped_delta(Interval epsilon) const;
  /// log(1 - delta), accurate where delta is close to 1; epsilon >= 0.
  [[nodiscard]] Interval log_complement(double epsilon) const;
  /// A straight line on the safe side of a logarithm, for 0 <= start <= epsilon <= end.
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, double start, double end) const;
  /// The same above log delta, from divergences. [divergence-line]
  [[nodiscard]] std::optional<LogLine> divergence_line(double start, double end) const;
  /// Polynomials that follow the profile from `start` >= 0 on: it lies below the larger of them. Empty if there are none. [contour-arc]
  [[nodiscard]] std::vector<Arc> arcs(double start, double end) const;
  [[nodiscard]] Interval infinite_mass() const;
  /// Records the theorems behind the distribution, for answers that depend on the mass at infinity.
  void cite() const { loss_.cite(); }
  /// Encloses the largest loss: delta is 0 from its upper end on, and positive below its lower end. [largest-loss]
  [[nodiscard]] Interval largest_loss() const;
  void cite_largest_loss() const;
  /// An upper bound of epsilon by the tail alone: the largest loss, or the mu of the pair; infinite if neither is known. [tail-model]
  [[nodiscard]] double epsilon_above(Interval delta) const;
  /// Of one value.
  [[nodiscard]] Cost cost() const { return loss_.cost(); }
  /// Approximations of `delta` and `swapped_delta` for searches.
  [[nodiscard]] double rough_delta(double epsilon) const;
  [[nodiscard]] double rough_swapped_delta(double epsilon) const;

  /// The closed forms of the loss, if they are valid for this profile.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Interval delta) const;
  [[nodiscard]] std::optional<Interval> closed_beta(Interval alpha) const;
  [[nodiscard]] std::optional<Loss::Test> test_at(double epsilon) const;

 private:
  [[nodiscard]] bool add_is_smaller(double epsilon, Interval delta) const;
  /// With a direction, a group means that kind of change only; without one, any mix of both. [group-privacy]
  [[nodiscard]] static const Loss& asked(const Loss& loss, Direction direction);
  [[nodiscard]] bool one_sided() const { return direction_ != Direction::worst || loss_.symmetric(); }
  [[nodiscard]] Direction side() const { return direction_ == Direction::add ? Direction::add : Direction::remove; }
  [[nodiscard]] Interval worst_delta(Interval epsilon) const;

  const Loss& loss_;
  const Bracket* bracket_;
  Direction direction_;
};

}  // namespace tradeoff::detail
