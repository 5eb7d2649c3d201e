// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tradeoff/curve.h"

namespace tradeoff {

/// Whether some mu exists for which the plan is mu-GDP.
enum class GdpVerdict { gdp, not_gdp, undecided };

/// G_mu composed with a chance `slack` of revealing everything: delta(e) <= slack + (1 - slack) delta_mu(e) for every e >= 0.
/// A guarantee about the whole curve, so it composes. `mu` encloses the least one for this slack.
struct GdpPair {
  Interval mu;
  Interval slack;
  double at_epsilon = 0;  ///< where it is least to spare
};

/// (root of the sum of mu^2, 1 - product of (1 - slack)): all of them on the same data.
[[nodiscard]] GdpPair compose(const std::vector<GdpPair>& pairs);

/// The supremum of the transform over epsilon <= epsilon_max alone, and the delta that is left there. It says nothing beyond, so it has
/// a type of its own and does not compose; the pair (mu.hi, residual.hi) does.
struct HeadMu {
  Interval mu;
  Interval residual;
  double at_epsilon = 0;
  std::size_t evaluations = 0;        ///< of the profile
  std::vector<std::string> warnings;  ///< what a reader should know before using it
};

/// What is certain about delta for large epsilon.
struct TailSummary {
  std::string kind;  ///< unknown, zero, gdp, gaussian, exponential, polynomial or floor
  double from = 0;   ///< where that starts to hold
  Interval limit;    ///< of e / sqrt(-2 log delta(e)): no mu below its lower end is a guarantee
};

/// The answer to "is it Gaussian-DP, and for which mu". `mu.hi` is finite only if the tail is certified. [chord-bound] [tail-certificate]
struct GdpMeasurement {
  GdpVerdict verdict = GdpVerdict::undecided;
  Interval mu;
  double at_epsilon = 0;  ///< where the supremum is attained; infinite if it is approached in the limit
  TailSummary tail;
  std::vector<GdpPair> with_slack;
  std::size_t evaluations = 0;        ///< of the profile
  std::vector<std::string> warnings;  ///< what a reader should know before using it
};

/// e / sqrt(-2 log delta(e)) on a grid of growing epsilons. A hint and no proof: a limit cannot be seen by evaluating, and the series may
/// fall below it before it rises again. Verdicts never use it. [tail-model]
struct TailHint {
  double epsilon = 0;
  Interval value;  ///< 0 where delta is 0
};
[[nodiscard]] std::vector<TailHint> tail_hint(const Curve& curve);

/// Measures the curve (the worse of both directions) and, for each of the slacks, the pair that goes with it. A slack equal to the chance
/// of revealing everything up to rounding is raised until it certainly covers it, by less than 1e-11 of its size; the pair says so.
[[nodiscard]] GdpMeasurement measure_mu(const Curve& curve, const std::vector<Interval>& slacks = {});

/// Throws DomainError unless epsilon_max is positive and finite.
[[nodiscard]] HeadMu measure_head_mu(const Curve& curve, Interval epsilon_max);

/// One way to measure the head, what it found and what it cost; `mu` is the whole line and `refusal` says why if it failed.
struct HeadMethod {
  std::string method;
  Interval mu;
  std::size_t evaluations = 0;  ///< of the profile
  std::size_t searches = 0;     ///< for roots of delta_mu(e) = delta
  std::string refusal;
};

/// The head by the chord search, by marching, and by the printed Algorithms 1 and 3 in corrected form (with Algorithm 2, bisection, for the
/// roots), each with a target width. `methods` names some of chord, marching, algorithm_1, algorithm_3; empty means all.
/// Throws DomainError unless epsilon_max and width are positive and finite, and for an unknown method. [staircase-bound]
[[nodiscard]] std::vector<HeadMethod> compare_head_methods(const Curve& curve, double epsilon_max, double width,
                                                           const std::vector<std::string>& methods = {});

/// The box that `rectify` clips to. Its sides must be chosen without looking at the data: a range taken from the data is itself a release,
/// and no bound here covers it. Hence a type that is made only by saying so. [clip-and-rectify]
class PublicBox {
 public:
  /// One (low, high) a coordinate. Throws DomainError unless there is one and every side is finite with low < high.
  [[nodiscard]] static PublicBox chosen_without_data(const std::vector<std::pair<double, double>>& sides);

  /// The largest l1 distance of two points of the box.
  [[nodiscard]] Interval l1_diameter() const { return l1_diameter_; }
  /// The scale of the Laplace noise to add to every clipped coordinate, so that the result is what `| rectify(epsilon, low, high)` says of
  /// a single number. Take the upper end. Throws DomainError unless epsilon is positive and finite.
  [[nodiscard]] Interval rectifying_scale(Interval epsilon) const;

 private:
  explicit PublicBox(Interval l1_diameter) : l1_diameter_(l1_diameter) {}
  Interval l1_diameter_;
};

/// mu_GDP(epsilon, delta(epsilon)): the profile in units of mu. Constant for a Gaussian, order preserving. [gdp-transform]
[[nodiscard]] Interval gdp_transform_at(const Curve& curve, Interval epsilon, Direction direction = Direction::worst);

}  // namespace tradeoff
