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

/// G_mu, and with probability `slack` everything is revealed: delta(e) <= slack + (1 - slack) delta_mu(e) for every e >= 0. The guarantee
/// holds for the whole curve, so it composes. `mu` encloses the least mu for this slack.
struct GdpPair {
  Interval mu;
  Interval slack;
  double at_epsilon = 0;  ///< the epsilon at which the bound is tightest
};

/// The pair of the composition: mu is the root of the sum of mu^2, slack is 1 - product of (1 - slack).
[[nodiscard]] GdpPair compose(const std::vector<GdpPair>& pairs);

/// The supremum of the transform over epsilon <= epsilon_max only, and the delta left at epsilon_max. It bounds nothing beyond epsilon_max,
/// so it has its own type and does not compose; the pair (mu.hi, residual.hi) composes.
struct HeadMu {
  Interval mu;
  Interval residual;
  double at_epsilon = 0;
  std::size_t evaluations = 0;        ///< number of evaluations of the profile
  std::vector<std::string> warnings;  ///< what a reader should know before using it
};

/// What is proved about delta for large epsilon.
struct TailSummary {
  std::string kind;  ///< unknown, zero, gdp, gaussian, exponential, polynomial or floor
  double from = 0;   ///< the statement holds from this epsilon on
  Interval limit;    ///< of e / sqrt(-2 log delta(e)): no mu below its lower end is a guarantee
};

/// The least mu for which the plan is mu-GDP, if there is one. `mu.hi` is finite only if a bound on the tail is proved. [chord-bound]
/// [tail-certificate]
struct GdpMeasurement {
  GdpVerdict verdict = GdpVerdict::undecided;
  Interval mu;
  double at_epsilon = 0;  ///< where the supremum is attained; infinite if it is approached in the limit
  TailSummary tail;
  std::vector<GdpPair> with_slack;
  std::size_t evaluations = 0;        ///< number of evaluations of the profile
  std::vector<std::string> warnings;  ///< what a reader should know before using it
};

/// e / sqrt(-2 log delta(e)) on a grid of growing epsilons. It is a hint, not a proof: finitely many values do not determine a limit, and
/// the series may fall below its limit before it rises again. No verdict uses it. [tail-model]
struct TailHint {
  double epsilon = 0;
  Interval value;  ///< 0 where delta is 0
};
[[nodiscard]] std::vector<TailHint> tail_hint(const Curve& curve);

/// Measures the curve (the worse of both directions) and, for each slack, the pair with that slack. A slack that equals the probability of
/// an infinite loss up to rounding is raised by less than a relative 1e-11, so that it certainly covers that probability; the pair states
/// the raised slack.
[[nodiscard]] GdpMeasurement measure_mu(const Curve& curve, const std::vector<Interval>& slacks = {});

/// Throws DomainError unless epsilon_max is positive and finite.
[[nodiscard]] HeadMu measure_head_mu(const Curve& curve, Interval epsilon_max);

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

/// mu_GDP(epsilon, delta(epsilon)): the mu whose Gaussian has the same delta at this epsilon. Constant for a Gaussian; preserves the order
/// of profiles. [gdp-transform]
[[nodiscard]] Interval gdp_transform_at(const Curve& curve, Interval epsilon, Direction direction = Direction::worst);

}  // namespace tradeoff
