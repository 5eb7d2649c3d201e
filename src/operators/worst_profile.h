// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff {

/// The profile a question is about, on the whole line: one direction of a loss, or the worse of both directions for
/// epsilon >= 0 continued to negative epsilon by its mirror, so that it is a symmetric profile.
class Profile {
 public:
  Profile(const Loss& loss, Direction direction) : loss_(asked(loss, direction)), direction_(direction) {}

  [[nodiscard]] Interval delta(Interval epsilon) const;
  [[nodiscard]] Interval log_delta(Interval epsilon) const;
  /// The profile of the swapped pair; the same one if the profile is symmetric.
  [[nodiscard]] Interval swapped_delta(Interval epsilon) const;
  [[nodiscard]] Interval infinite_mass() const;
  /// Records what the law rests on: for answers that the mass at infinity decides.
  void cite() const { loss_.cite(); }
  /// Encloses the largest loss: delta is 0 from its upper end on, and positive below its lower end. [largest-loss]
  [[nodiscard]] Interval largest_loss() const;
  void cite_largest_loss() const;
  /// About `delta` and `swapped_delta`, to steer searches.
  [[nodiscard]] double rough_delta(double epsilon) const;
  [[nodiscard]] double rough_swapped_delta(double epsilon) const;

  /// Closed forms of the loss where they answer for this profile.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Interval delta) const;
  [[nodiscard]] std::optional<Interval> closed_beta(Interval alpha) const;
  [[nodiscard]] std::optional<Loss::Test> test_at(double epsilon) const;

 private:
  /// A group is asked for one kind of change alone where a direction is given, and for both mixed otherwise. [group-privacy]
  [[nodiscard]] static const Loss& asked(const Loss& loss, Direction direction);
  [[nodiscard]] bool one_sided() const { return direction_ != Direction::worst || loss_.symmetric(); }
  [[nodiscard]] Direction side() const { return direction_ == Direction::add ? Direction::add : Direction::remove; }
  [[nodiscard]] Interval worst_delta(Interval epsilon) const;

  const Loss& loss_;
  Direction direction_;
};

}  // namespace tradeoff
