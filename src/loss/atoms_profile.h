// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "loss/atoms.h"
#include "numeric/double_double.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// The profile of a finite law for many questions: the sums over all larger atoms are computed once, in double-doubles, and a value takes
/// two binary searches and two exponentials. Values below 1e-300 are not resolved.
class AtomsProfile {
 public:
  explicit AtomsProfile(const Atoms& atoms);
  [[nodiscard]] Interval delta(Interval epsilon) const;

 private:
  /// From this loss down to the next one, delta(e) is the infinite mass plus height + weight * (1 - exp(e - loss)).
  struct Corner {
    double loss;
    numeric::DoubleDouble height;  // the sum of mass * (1 - exp(loss - larger)) over the larger losses
    numeric::DoubleDouble weight;  // the sum of mass * exp(loss - larger) over them and this one
  };
  using Corners = std::vector<Corner>;  // losses in decreasing order
  [[nodiscard]] static Corners corners_of(std::vector<std::pair<double, double>> atoms);
  [[nodiscard]] static Interval at(const Corners& corners, double epsilon);

  Corners above_;  // of the upper ends of losses and masses
  Corners below_;  // of the lower ends
  Interval infinite_;
  double slack_;
};

}  // namespace tradeoff::detail
