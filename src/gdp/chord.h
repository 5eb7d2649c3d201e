// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "operators/worst_profile.h"

namespace tradeoff::detail {

/// A symmetric profile that caches its values. A bound that is the minimum of several profiles is kept as a list, because each of them is
/// convex in e^e and their minimum need not be.
class MeasuredProfile {
 public:
  explicit MeasuredProfile(const Loss& loss);

  struct Value {
    Interval delta;
    Interval log_delta;
    Interval log_complement;  ///< log(1 - delta); used where delta is above a half
  };
  /// The value of each of the profiles at epsilon.
  [[nodiscard]] const std::vector<Value>& at(double epsilon);
  [[nodiscard]] Interval delta(double epsilon);
  /// An upper bound of the transform at epsilon 0.
  [[nodiscard]] double mu_at_zero();
  [[nodiscard]] Interval infinite_mass() const;
  [[nodiscard]] std::size_t evaluations() const { return values_.size(); }
  /// A straight line above the logarithm of one of the profiles on [start, end]. [log-line-bound]
  [[nodiscard]] std::optional<LogLine> line_above(std::size_t profile, double start, double end) const;
  /// Every epsilon evaluated so far.
  [[nodiscard]] std::vector<double> points() const;

 private:
  std::vector<Profile> profiles_;
  std::optional<GaussianTail> model_;  // bounds the profile from above where its own enclosure underflows
  std::map<double, std::vector<Value>> values_;
};

/// A supremum of the transform: an enclosure, and the position of the best point found.
struct Supremum {
  Interval mu;
  double at_epsilon = 0;
};

/// The supremum over [0, last] of mu_GDP(e, (delta(e) - slack)+ / (1 - slack)). The upper end uses only that the exact profile is convex in
/// e^e. The search stops at `relative` width, where the width of the profile allows no better, or once the supremum is proved to be at most
/// `enough`, below which the caller does not need it. [chord-bound]
[[nodiscard]] Supremum chord_supremum(MeasuredProfile& profile, double last, Interval slack, double relative, double enough = 0);

}  // namespace tradeoff::detail
