// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
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

/// Measures the curve (the worse of both directions) and, for each slack, the pair with that slack. A slack that equals the probability of
/// an infinite loss up to rounding is raised by less than a relative 1e-11, so that it certainly covers that probability; the pair states
/// the raised slack.
[[nodiscard]] GdpMeasurement measure_mu(const Curve& curve, const std::vector<Interval>& slacks = {});

/// Throws DomainError unless epsilon_max is positive and finite.
[[nodiscard]] HeadMu measure_head_mu(const Curve& curve, Interval epsilon_max);

/// mu_GDP(epsilon, delta(epsilon)): the mu whose Gaussian has the same delta at this epsilon. Constant for a Gaussian; preserves the order
/// of profiles. [gdp-transform]
[[nodiscard]] Interval gdp_transform_at(const Curve& curve, Interval epsilon, Direction direction = Direction::worst);

}  // namespace tradeoff
