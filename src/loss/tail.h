// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff {

/// log delta(e) <= log_factor + slope e - e^2 / (2 width^2) for every e >= from.
struct GaussianTail {
  double log_factor = 0;
  double slope = 0;
  double width = 0;
  double from = 0;
};

/// What a reader is told about the tail. The last three rule Gaussian DP out.
enum class TailKind { unknown, zero, gdp, gaussian, exponential, polynomial, floor };

/// Encloses the essential supremum of the loss in each direction: delta(e) > 0 for every e below the lower end, delta(e) = 0 from the
/// upper end on. The default says nothing. [largest-loss]
struct LargestLoss {
  Interval remove{0, std::numeric_limits<double>::infinity()};
  Interval add{0, std::numeric_limits<double>::infinity()};

  [[nodiscard]] Interval worse() const;
  /// The same for a profile that lies below this one: the upper ends hold, the lower ends say nothing.
  [[nodiscard]] LargestLoss as_bound() const { return {{0, remove.hi}, {0, add.hi}}; }
};

/// What is certain about delta(e) for large e, in both directions: a limit cannot be seen by evaluating, so it is carried along.
/// Every field holds by itself; the defaults say nothing. [tail-model]
struct Tail {
  static constexpr double nothing = std::numeric_limits<double>::infinity();

  TailKind kind = TailKind::unknown;
  double zero_from = nothing;  ///< delta(e) = 0 for every e >= zero_from
  LargestLoss largest;         ///< by direction; no upper end exceeds `zero_from`
  double gdp_mu = nothing;     ///< delta(e) <= delta_mu(e) for every e >= 0
  double moment_mu = nothing;  ///< E exp(l L) <= exp(mu^2 l (l + 1)/2) for every l >= 0: the moments of a Gaussian, which add in squares
  std::optional<GaussianTail> gaussian;
  /// Encloses every limit point of e / sqrt(-2 log delta(e)) in the remove direction; infinite if delta does not fall fast enough for any
  /// Gaussian, in some direction. No mu below its lower end is a guarantee.
  Interval limit{0, nothing};
};

/// delta(e) = 0 for e >= from. [pure-dp-mu]
[[nodiscard]] Tail zero_tail(double from);
/// The same where the largest losses themselves are known. [largest-loss]
[[nodiscard]] Tail pure_tail(LargestLoss largest);
/// delta <= delta_mu everywhere, and e / sqrt(-2 log delta) tends to mu.
[[nodiscard]] Tail gdp_tail(Interval mu);
/// delta(e) <= exp(log_factor - e^2/(2 width^2)) for e >= from; `limit` as in Tail.
[[nodiscard]] Tail gaussian_tail(double log_factor, Interval width, double from);
/// delta falls, but too slowly for any Gaussian, or not to 0 at all.
[[nodiscard]] Tail heavy_tail(TailKind kind, LargestLoss largest = {});

/// The mu of the least private (epsilon, 0)-DP mechanism, -2 Phi^-1(1/(1 + e^epsilon)). [pure-dp-mu]
[[nodiscard]] Interval pure_dp_mu(Interval epsilon);

/// rate * delta(log(1 + (e^e - 1)/rate)): Poisson and fixed-size sampling. [tail-propagation]
[[nodiscard]] Tail sampled_tail(const Tail& base, Interval rate);
/// The largest losses after sampling: Poisson, of any pair; samples of fixed size, of a symmetric pair. [largest-loss]
[[nodiscard]] LargestLoss poisson_largest(const LargestLoss& base, Interval rate);
[[nodiscard]] LargestLoss sampled_largest(const LargestLoss& base, Interval rate);
/// Of the smaller of two profiles, or of its convex hull. [largest-loss]
[[nodiscard]] LargestLoss smaller(const LargestLoss& one, const LargestLoss& other);
/// A mixture whose choice is public, weights positive with sum 1. [tail-propagation]
[[nodiscard]] Tail mixed_tail(const std::vector<Tail>& components);
/// All of them on the same data, each run so many times. [tail-composition]
[[nodiscard]] Tail composed_tail(const std::vector<std::pair<Tail, std::uint64_t>>& parts);

/// Whether delta(e) <= delta_mu(e) is certain for every e >= from, by the Gaussian model. [tail-certificate]
[[nodiscard]] bool certifies(const GaussianTail& tail, double mu, double from);

}  // namespace tradeoff
