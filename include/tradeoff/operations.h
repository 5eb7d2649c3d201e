// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tradeoff/curve.h"

// The algebra of curves, for curves that no plan describes. Curves that are combined must have the same neighbours (an unstated one
// agrees with any); otherwise DomainError. [curve-algebra]
namespace tradeoff {

/// Both directions exchanged: the trade-off function's inverse. Lossless. [tradeoff-functions]
[[nodiscard]] Curve inverse(const Curve& curve);
/// The symmetric curve below both orders: what may be claimed without knowing which order occurs.
[[nodiscard]] Curve symmetrized(const Curve& curve);

/// One mechanism for which every one of these is a valid guarantee: the larger trade-off function, the smaller profile. Symmetric.
[[nodiscard]] Curve strongest(const std::vector<Curve>& curves);
/// One of these mechanisms, it is not known which: the smaller trade-off function, made convex; the larger profile.
[[nodiscard]] Curve weakest(const std::vector<Curve>& curves);
/// One of these mechanisms is drawn with these probabilities and the draw is public. Weights must sum to 1.
[[nodiscard]] Curve mixture(const std::vector<std::pair<Interval, Curve>>& components);
/// All of these on the same data: the tensor product. [tensor-composition]
[[nodiscard]] Curve product(const std::vector<Curve>& curves);
/// Beside a chance of revealing everything: the tensor product with f_{0, probability}.
[[nodiscard]] Curve with_revealing(const Curve& curve, Interval probability);
/// For this many records that change together.
[[nodiscard]] Curve grouped(const Curve& curve, std::uint64_t size);

/// Anything that is (epsilon, delta)-DP for every one of the pairs. Lossless: the curve says what the list says and no more.
[[nodiscard]] Curve from_guarantees(const std::vector<std::pair<Interval, Interval>>& points, Neighbours neighbours = Neighbours::unstated);
/// The polygon through points (alpha, beta) of a trade-off function, from alpha = 0 down to beta = 0.
[[nodiscard]] Curve from_tradeoff(const std::vector<std::pair<Interval, Interval>>& points, Neighbours neighbours = Neighbours::unstated);
/// (epsilon, delta(epsilon).hi) at each epsilon: a valid list of guarantees, lossy between them. Feeds `from_guarantees`.
[[nodiscard]] std::vector<std::pair<Interval, Interval>> to_guarantees(const Curve& curve, const std::vector<double>& epsilons);

enum class Order { yes, no, undecided };

/// Whether one curve is nowhere below another.
struct OrderAnswer {
  Order verdict = Order::undecided;
  std::optional<double> alpha;    ///< if `no`: a type I error at which the first is certainly the lower one
  std::optional<double> epsilon;  ///< if `no`: an epsilon at which its delta is certainly the larger one
};

/// Whether `one` is at least as private as `other`: its symmetric trade-off function is nowhere lower. `yes` and `no` are proved; curves
/// that touch without crossing are often undecided. If yes, whatever `other` allows an attacker, `one` allows no more. [privacy-order]
[[nodiscard]] OrderAnswer at_least_as_private(const Curve& one, const Curve& other);

/// The largest chance to name the one of `people` >= 2 equally likely candidates whose record was used. [naming-chance]
[[nodiscard]] Interval naming_chance(const Curve& curve, std::uint64_t people);

/// The least factor k such that, except with this chance (strictly between 0 and 1), no output multiplies the odds about a record by more
/// than k. Infinite if everything is revealed more often than that. [odds-factor]
[[nodiscard]] Interval odds_factor(const Curve& curve, Interval chance);

}  // namespace tradeoff
