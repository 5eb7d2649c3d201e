// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/guarantee.h"

// The algebra of curves, also for curves that no plan describes. Combined curves must have the same neighbours, otherwise DomainError; an
// unstated relation agrees with any. [curve-algebra]
namespace tradeoff {

/// Both directions exchanged: the trade-off function's inverse. Lossless. [tradeoff-functions]
[[nodiscard]] Curve inverse(const Curve& curve);
/// The symmetric curve below both orders: the guarantee that holds for either order of the data sets.
[[nodiscard]] Curve symmetrized(const Curve& curve);

/// One mechanism that satisfies every one of these guarantees: the larger trade-off function, the smaller profile. Symmetric.
[[nodiscard]] Curve strongest(const std::vector<Curve>& curves);
/// One of these mechanisms, unknown which: the convex hull of the smaller trade-off function; the larger profile.
[[nodiscard]] Curve weakest(const std::vector<Curve>& curves);
/// One of these mechanisms is drawn with these probabilities and the draw is public. Weights must sum to 1.
[[nodiscard]] Curve mixture(const std::vector<std::pair<Interval, Curve>>& components);
/// All of these on the same data: the tensor product. [tensor-composition]
[[nodiscard]] Curve product(const std::vector<Curve>& curves);
/// The mechanism, but with this probability it reveals everything: the tensor product with f_{0, probability}.
[[nodiscard]] Curve with_revealing(const Curve& curve, Interval probability);
/// The guarantee for a group of this many records.
[[nodiscard]] Curve grouped(const Curve& curve, std::uint64_t size);

/// Any mechanism that is (epsilon, delta)-DP for every one of the pairs. Lossless: the curve and the list are equivalent.
[[nodiscard]] Curve from_guarantees(const std::vector<Guarantee>& guarantees, Neighbours neighbours = Neighbours::unstated);
/// The polygon through points (alpha, beta) of a trade-off function, from alpha = 0 down to beta = 0.
[[nodiscard]] Curve from_tradeoff(const std::vector<std::pair<Interval, Interval>>& points, Neighbours neighbours = Neighbours::unstated);
/// (epsilon, delta(epsilon).hi) at each epsilon: a valid list of guarantees, lossy between them. `from_guarantees` accepts it.
[[nodiscard]] std::vector<Guarantee> to_guarantees(const Curve& curve, const std::vector<double>& epsilons);

/// The corners (epsilon, delta(epsilon)), epsilon >= 0, between which delta is linear in exp(epsilon), of a plan that is composed exactly.
/// Lossless. Throws UnsupportedError for any other plan, and for `worst` if the two directions differ. [exact-composition]
[[nodiscard]] std::vector<Guarantee> corners_of(const Curve& curve, Direction direction = Direction::worst);

enum class Order { yes, no, undecided };

/// Whether one curve is nowhere below another.
struct OrderAnswer {
  Order verdict = Order::undecided;
  std::optional<double> alpha;    ///< if `no`: a type I error at which the first is certainly the lower one
  std::optional<double> epsilon;  ///< if `no`: an epsilon at which its delta is certainly the larger one
};

/// Whether `one` is at least as private as `other`: its symmetric trade-off function is nowhere lower. `yes` and `no` are proved; curves
/// that touch without crossing are often undecided. If yes, no attack does better against `one` than against `other`. [privacy-order]
[[nodiscard]] OrderAnswer at_least_as_private(const Curve& one, const Curve& other);

/// The largest probability of picking the one record that was used, among `people` >= 2 equally likely candidates. [naming-chance]
[[nodiscard]] Interval naming_chance(const Curve& curve, std::uint64_t people);

/// The least factor k such that, except with this probability (strictly between 0 and 1), no output multiplies the odds about a record by
/// more than k. Infinite if an infinite loss is more likely than that. [odds-factor]
[[nodiscard]] Interval odds_factor(const Curve& curve, Interval chance);

}  // namespace tradeoff
