// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "loss/recording.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

class MomentBound;  // loss/moment_bound.h

/// log delta(e) <= log_factor + slope e - e^2 / (2 width^2) for every e >= from.
struct GaussianTail {
  double log_factor = 0;
  double slope = 0;
  double width = 0;
  double from = 0;
};

/// The kind of tail in reports. The last three rule out Gaussian DP.
enum class TailKind { unknown, zero, gdp, gaussian, exponential, polynomial, floor };

/// Encloses the essential supremum of the loss in each direction: delta(e) > 0 for every e below the lower end, delta(e) = 0 from the upper
/// end on. The default is no information. [largest-loss]
struct LargestLoss {
  Interval remove{0, std::numeric_limits<double>::infinity()};
  Interval add{0, std::numeric_limits<double>::infinity()};

  /// delta(e) > 0 for every e, in both directions.
  [[nodiscard]] static LargestLoss unbounded();
  [[nodiscard]] Interval worse() const;
  /// For a profile that lies below this one: the upper ends stay valid, the lower ends are dropped.
  [[nodiscard]] LargestLoss as_bound() const { return {{0, remove.hi}, {0, add.hi}}; }
};

/// What is proved about delta(e) for large e, in both directions. A limit cannot be found by evaluation, so every loss passes this
/// information on. Each field holds independently; the defaults are no information. [tail-model]
struct Tail {
  static constexpr double nothing = std::numeric_limits<double>::infinity();

  TailKind kind = TailKind::unknown;
  double zero_from = nothing;  ///< delta(e) = 0 for every e >= zero_from
  LargestLoss largest;         ///< by direction; no upper end exceeds `zero_from`
  /// For a composition: the sum of the largest losses, in both directions, of all parts that are not exactly Gaussian. [gaussian-part]
  double beside_gaussian = nothing;
  double gdp_mu = nothing;             ///< delta(e) <= delta_mu(e) for every e >= 0
  std::optional<Citation> gdp_origin;  ///< the theorem behind `gdp_mu`, if it is not that of the distribution
  double gdp_near = nothing;           ///< an epsilon at which the transform is thought to come close to `gdp_mu`
  double moment_mu = nothing;  ///< E exp(l L) <= exp(mu^2 l (l + 1)/2) for every l >= 0: moments of a Gaussian, whose mu add in squares
  /// Sampled at this rate: the moments are at most (1 - rate + rate exp(mu^2 l/2))^(l + 1) + l rate, mu the smaller of the two above.
  double moment_rate = 1;
  double largest_delta = 1;  ///< delta(e) <= this for every e >= 0
  std::optional<GaussianTail> gaussian;
  /// The moments of a composition; null for anything else. [moment-bound]
  std::shared_ptr<const MomentBound> moments;
  /// Encloses every limit point of e / sqrt(-2 log delta(e)) in the remove direction; infinite if delta falls too slowly for any Gaussian
  /// in some direction. The plan is not mu-GDP for any mu below the lower end.
  Interval limit{0, nothing};
};

/// delta(e) = 0 for e >= from. [pure-dp-mu]
[[nodiscard]] Tail zero_tail(double from);
/// The same if the largest losses are known in each direction. [largest-loss]
[[nodiscard]] Tail pure_tail(LargestLoss largest);
/// delta <= delta_mu everywhere, and e / sqrt(-2 log delta) tends to mu.
[[nodiscard]] Tail gdp_tail(Interval mu);
/// delta(e) <= exp(log_factor - e^2/(2 width^2)) for e >= from; `limit` as in Tail.
[[nodiscard]] Tail gaussian_tail(double log_factor, Interval width, double from);
/// delta falls too slowly for any Gaussian, or does not tend to 0.
[[nodiscard]] Tail heavy_tail(TailKind kind, LargestLoss largest = {});

/// The mu of the least private (epsilon, 0)-DP mechanism, -2 Phi^-1(1/(1 + e^epsilon)). [pure-dp-mu]
[[nodiscard]] Interval pure_dp_mu(Interval epsilon);

/// rate * delta(log(1 + (e^e - 1)/rate)): Poisson and fixed-size sampling of a base that is symmetric or not. [tail-propagation]
[[nodiscard]] Tail sampled_tail(const Tail& base, Interval rate, bool symmetric);
/// The largest losses after sampling: Poisson, of any pair; samples of fixed size, of a symmetric pair. [largest-loss]
[[nodiscard]] LargestLoss poisson_largest(const LargestLoss& base, Interval rate);
[[nodiscard]] LargestLoss sampled_largest(const LargestLoss& base, Interval rate);
/// For the smaller of two profiles, or its convex hull. [largest-loss]
[[nodiscard]] LargestLoss smaller(const LargestLoss& one, const LargestLoss& other);
/// For a mixture whose choice is public, with positive weights of sum 1. [tail-propagation]
[[nodiscard]] Tail mixed_tail(const std::vector<Tail>& components);
/// For the composition of all of them, each run so many times. [tail-composition]
[[nodiscard]] Tail composed_tail(const std::vector<std::pair<Tail, std::uint64_t>>& parts);

/// Whether the Gaussian model proves delta(e) <= delta_mu(e) for every e >= from. [tail-certificate]
[[nodiscard]] bool certifies(const GaussianTail& tail, double mu, double from);

}  // namespace tradeoff::detail
