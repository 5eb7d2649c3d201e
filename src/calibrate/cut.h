// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mechanism/scaled_noise.h"
#include "tradeoff/plan.h"
#include "tradeoff/targets.h"

// A bound that holds for every noise scale between two values: on which side of a cut the output lies. [parameter-calibration]
namespace tradeoff::detail {

/// Noise whose privacy is not monotone in its scale; its row in the vocabulary has `noise`.
class CutNoise {
 public:
  /// The source whose scale is `?`.
  explicit CutNoise(const Call& source);

  /// Cuts that may distinguish the neighbours well at this scale, the best candidates first.
  [[nodiscard]] std::vector<double> cuts(double scale, const Targets& targets) const;

  /// Bounds on P(X >= reach) for one scale; scale 0 is no noise at all.
  class Tails {
   public:
    [[nodiscard]] Interval at(double reach) const;

   private:
    friend class CutNoise;
    Tails(ScaledNoise::Tail tail, double bound) : tail_(std::move(tail)), bound_(bound) {}
    ScaledNoise::Tail tail_;
    double bound_;
  };
  [[nodiscard]] Tails tails(double scale) const;

  /// A symmetric pair with three outcomes that is a post-processing of the noise for every scale of [low, high] (low = 0: of (0, high]), or
  /// is more private: the output lies below the cut, above its mirror image, or between. Empty if the cut gives no bound.
  [[nodiscard]] std::optional<Call> weaker_pair(const Tails& low, const Tails& high, double cut) const;

 private:
  ScaledNoise noise_;
  Interval sensitivity_;
};

}  // namespace tradeoff::detail
