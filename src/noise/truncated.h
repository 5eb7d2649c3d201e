// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/grid_noise.h"
#include "tradeoff/interval.h"

namespace tradeoff::noise {

/// A law of the grid restricted to {-bound, ..., bound}: values outside are drawn again, each time from fresh words. The number of
/// rounds does not depend on the value that is kept. [laplace-samplers]
class Truncated {
 public:
  Truncated(const GridNoise& whole, std::uint64_t bound) : whole_(whole), bound_(bound) {}
  void draw(WordStream& words, std::span<std::int64_t> values) const;
  [[nodiscard]] const GridNoise& whole() const { return whole_; }
  [[nodiscard]] std::uint64_t bound() const { return bound_; }

 private:
  GridNoise whole_;
  std::uint64_t bound_;
};

/// The least bound for which the discrete Laplace of the given scale, restricted to {-bound..bound}, is (shift / scale, delta)-DP for
/// integer queries of sensitivity `shift` <= bound. delta is at least `delta`.lo. [truncation-bound]
[[nodiscard]] std::uint64_t least_truncation_bound(Interval scale, std::uint64_t shift, Interval delta);

}  // namespace tradeoff::noise
