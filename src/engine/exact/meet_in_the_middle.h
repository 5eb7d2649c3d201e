// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/exact/table.h"

namespace tradeoff::detail::exact {

/// [meet-in-the-middle] The sum of two independent losses. Each is listed, their product is not: delta(e) is the mean of the profile of one
/// at e minus the loss of the other, computed in one pass through both lists. This makes products of a trillion atoms exact.
class Halves {
 public:
  Halves(Law one, Law other, Masses masses);

  [[nodiscard]] Interval delta(Interval epsilon) const;
  [[nodiscard]] Interval log_delta(Interval epsilon) const;
  [[nodiscard]] Interval log_complement(double epsilon) const;
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

}  // namespace tradeoff::detail::exact
