// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tradeoff/plan.h"
#include "tradeoff/targets.h"

// A bound that holds for every noise scale between two values: on which side of a cut the output lies. [parameter-calibration]
namespace tradeoff {

/// Noise whose privacy is not monotone in its scale: truncated Laplace noise (real or integer) and discrete Gaussian noise. It is
/// symmetric, and its absolute value is stochastically larger for a larger scale.
class CutNoise {
 public:
  /// The source whose scale is `?`.
  explicit CutNoise(const Call& source);

  /// Cuts that may distinguish the neighbours well at this scale, the best candidates first.
  [[nodiscard]] std::vector<double> cuts(double scale, const Targets& targets) const;

  /// Bounds on P(X >= reach) for one scale.
  class Tails {
   public:
    [[nodiscard]] Interval at(double reach) const;

   private:
    friend class CutNoise;
    enum class Law { continuous, discrete, gaussian };
    Law law_ = Law::continuous;
    Interval scale_;
    Interval bound_;
    std::vector<Interval> sums_;  // sums of Gaussian weights from each integer on
  };
  [[nodiscard]] Tails tails(double scale) const;

  /// A symmetric pair with three outcomes that is a post-processing of the noise for every scale of [low, high] (low = 0: of (0, high]), or
  /// is more private: the output lies below the cut, above its mirror image, or between. Empty if the cut gives no bound.
  [[nodiscard]] std::optional<Call> weaker_pair(const Tails& low, const Tails& high, double cut) const;

 private:
  Tails::Law law_;
  Interval sensitivity_;
  Interval bound_;
};

}  // namespace tradeoff
