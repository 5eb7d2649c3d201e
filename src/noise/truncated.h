// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/grid_noise.h"
#include "noise/sampler.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::noise {

/// A Laplace distribution on the grid, restricted to {-bound, ..., bound}. For a wide bound, values outside are drawn again. For a bound
/// below the scale, uniform values are accepted with the probability that the distribution gives them. Either way a value is accepted with
/// probability above 1/e, and the number of rounds does not depend on the accepted value. [laplace-samplers]
class Truncated final : public Sampler {
 public:
  Truncated(const GridNoise& whole, std::uint64_t bound);
  void draw(WordStream& words, std::span<std::int64_t> values) const override;
  [[nodiscard]] DrawnLaw drawn_law() const override;
  [[nodiscard]] const GridNoise& whole() const { return whole_; }
  [[nodiscard]] std::uint64_t bound() const { return bound_; }

 private:
  void draw_wide(WordStream& words, std::span<std::int64_t> values) const;
  [[nodiscard]] std::int64_t draw_narrow(WordStream& words) const;
  /// A coin of probability exp(-count * unit), where `unit` is one cell over the scale.
  [[nodiscard]] bool keeps(std::uint64_t count, WordStream& words) const;

  GridNoise whole_;
  std::uint64_t bound_;
  bool rounded_;           // half cells instead of points
  GridNoise exponential_;  // scale 1: its table encloses -ln V
};

/// The least bound for which the discrete Laplace of the given scale, restricted to {-bound..bound}, is (shift / scale, delta)-DP for
/// integer queries of sensitivity `shift` <= bound. delta is at least `delta`.lo. [truncation-bound]
[[nodiscard]] std::uint64_t least_truncation_bound(Interval scale, std::uint64_t shift, Interval delta);

}  // namespace tradeoff::detail::noise
