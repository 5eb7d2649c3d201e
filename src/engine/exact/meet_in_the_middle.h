// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/exact/table.h"

namespace tradeoff::exact {

/// [meet-in-the-middle] The sum of two independent losses, each listed, their product not: delta(e) is the mean of the one's profile at
/// e minus the other's loss, found in one sweep through both lists. A trillion atoms are as exact as a million.
class Halves {
 public:
  Halves(Law one, Law other, Masses masses);

  [[nodiscard]] Interval delta(Interval epsilon) const;
  [[nodiscard]] Interval log_delta(Interval epsilon) const;
  [[nodiscard]] Loss::Test test(double epsilon) const;
  [[nodiscard]] const Masses& masses() const { return masses_; }
  [[nodiscard]] double points() const;
  [[nodiscard]] double shift() const { return shift_; }
  [[nodiscard]] double spread() const { return spread_; }

 private:
  [[nodiscard]] Ends finite_delta(Interval epsilon) const;

  Law one_;
  Table other_;
  Masses masses_;
  double shift_ = 0;
  double spread_ = 0;
  double highest_ = 0;
  Wide lost_ = 0;
};

}  // namespace tradeoff::exact
