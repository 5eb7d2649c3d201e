// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tradeoff/curve.h"

// For research on the methods; an accountant does not need it, and `tradeoff/tradeoff.h` does not include it.
namespace tradeoff {

/// e / sqrt(-2 log delta(e)) on a grid of growing epsilons. It is a hint, not a proof: finitely many values do not determine a limit, and
/// the series may fall below its limit before it rises again. No verdict uses it. [tail-model]
struct TailHint {
  double epsilon = 0;
  Interval value;  ///< 0 where delta is 0
};
[[nodiscard]] std::vector<TailHint> tail_hint(const Curve& curve);

/// One method of measuring the head, its result and its cost. `mu` is the whole line if the method failed; `refusal` then states why.
struct HeadMethod {
  std::string method;
  Interval mu;
  std::size_t evaluations = 0;  ///< number of evaluations of the profile
  std::size_t searches = 0;     ///< number of searches for a root of delta_mu(e) = delta
  std::string refusal;
};

/// Measures the head by the chord search, by marching, and by Algorithms 1 and 3 of the paper in corrected form (with Algorithm 2,
/// bisection, for the roots), each to the given width. `methods` lists some of chord, marching, algorithm_1, algorithm_3; empty means all.
/// Throws DomainError unless epsilon_max and width are positive and finite, and for an unknown method. [staircase-bound]
[[nodiscard]] std::vector<HeadMethod> compare_head_methods(const Curve& curve, double epsilon_max, double width,
                                                           const std::vector<std::string>& methods = {});

/// The box that `rectify` clips to. Its sides must be chosen without looking at the data: a range computed from the data is itself a
/// release, and no bound here covers it. The name of the constructor makes the caller state this. [clip-and-rectify]
class PublicBox {
 public:
  /// One (low, high) a coordinate. Throws DomainError unless there is one and every side is finite with low < high.
  [[nodiscard]] static PublicBox chosen_without_data(const std::vector<std::pair<double, double>>& sides);

  /// The largest l1 distance between two points of the box.
  [[nodiscard]] Interval l1_diameter() const { return l1_diameter_; }
  /// The scale of the Laplace noise to add to every clipped coordinate. With it, the guarantee of `| rectify(epsilon, low, high)` holds for
  /// the whole vector. Use the upper end. Throws DomainError unless epsilon is positive and finite.
  [[nodiscard]] Interval rectifying_scale(Interval epsilon) const;

 private:
  explicit PublicBox(Interval l1_diameter) : l1_diameter_(l1_diameter) {}
  Interval l1_diameter_;
};

}  // namespace tradeoff
