// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "operators/worst_profile.h"

namespace tradeoff {

/// A symmetric profile that remembers what it was asked. A bound that is the minimum of several profiles is kept as those, because each
/// of them is convex in e^e and their minimum need not be.
class MeasuredProfile {
 public:
  explicit MeasuredProfile(const Loss& loss);

  struct Value {
    Interval delta;
    Interval log_delta;
  };
  /// What each of the profiles says at epsilon.
  [[nodiscard]] const std::vector<Value>& at(double epsilon);
  [[nodiscard]] Interval delta(double epsilon);
  [[nodiscard]] Interval infinite_mass() const;
  [[nodiscard]] std::size_t evaluations() const { return values_.size(); }
  /// Every epsilon asked so far.
  [[nodiscard]] std::vector<double> points() const;

 private:
  std::vector<Profile> profiles_;
  std::optional<GaussianTail> model_;  // bounds the profile from above where its own enclosure has run out of digits
  std::map<double, std::vector<Value>> values_;
};

/// A supremum of the transform: enclosed, and where the best point was seen.
struct Supremum {
  Interval mu;
  double at_epsilon = 0;
};

/// The supremum over [0, last] of mu_GDP(e, (delta(e) - slack)+ / (1 - slack)). The upper end uses only that the exact profile is convex
/// in e^e; the search stops at `relative` width, where the profile's own width forbids more, or once the supremum is certain to be at most
/// `enough`, below which it does not matter to the caller. [chord-bound]
[[nodiscard]] Supremum chord_supremum(MeasuredProfile& profile, double last, Interval slack, double relative, double enough = 0);

}  // namespace tradeoff
