// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "operators/allocation/log_mean_law.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::allocation {

/// One epoch for a record that is replaced: e^(l/2) times the density of the privacy loss under Q, an even function of the loss l, at
/// l = 0, step, 2 step, ... Every value is within its error of the truth, and no error is large against its value.
/// [allocation-replaced-law]
class ReplacedLaw {
 public:
  ReplacedLaw(double s, double steps);

  /// Makes the places that are not there yet; fewer, if errors would be large or the work too much.
  void reach(std::size_t places);
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] const std::vector<double>& value() const { return value_; }
  [[nodiscard]] const std::vector<double>& error() const { return error_; }

 private:
  void make_group();
  [[nodiscard]] bool add_range(double length);

  double s_, steps_, step_;
  std::vector<double> value_, error_;
  std::vector<double> work_;  // of every group of places
  std::vector<std::size_t> ends_of_groups_;
  double points_ = 0;
  bool far_ = false;            // the last group needed no line
  int range_fails_ = 0;         // in a row
  std::size_t most_parts_ = 4;  // of a group
  bool ended_ = false;
};

/// Encloses delta of one epoch at an epsilon >= 0, without its law: for a record that is replaced, removed or
/// added. [allocation-excess]
[[nodiscard]] Interval replaced_epoch_delta(Interval mu, double steps, double epsilon);
[[nodiscard]] Interval removed_epoch_delta(Interval mu, double steps, double epsilon);
[[nodiscard]] Interval added_epoch_delta(Interval mu, double steps, double epsilon);

}  // namespace tradeoff::detail::allocation
