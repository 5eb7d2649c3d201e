// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// Limit theorems and moments of a plan: guarantees where a theorem has an error term, estimates where it has none.
namespace tradeoff {

/// An approximation that proves nothing. It does not convert to an interval, so it cannot be used as a bound by mistake.
class Estimate {
 public:
  explicit constexpr Estimate(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }

 private:
  double value_;
};

/// Moments of the privacy loss L = log dP/dQ under P, for a pair with symmetric trade-off function f; the limit theorems use them. All are
/// infinite if the loss is infinite with positive probability. [loss-moments]
struct LossMoments {
  Interval kl;         ///< E L = -integral of log|f'|
  Interval kappa2;     ///< E L^2
  Interval kappa3;     ///< E |L|^3
  Interval kappa3bar;  ///< E |L - kl|^3, the flat part of f included
  Interval chi2plus;   ///< integral of ((|f'| - 1)+)^2
};

/// The moments of a curve; `worst` takes the symmetric curve that bounds both directions.
[[nodiscard]] LossMoments moments_of(const Curve& curve, Direction direction = Direction::worst);
/// The same for the curve of a plan. The bounds are better than those from the curve alone: the mechanisms state bounds on their tails, and
/// the first two moments add over steps.
[[nodiscard]] LossMoments moments_of(const Plan& plan, Direction direction = Direction::worst, Neighbours neighbours = Neighbours::unstated,
                                     Tolerance tolerance = {});

/// Divergences of P from Q. Each bounds every attack in its own way; each holds less information than the curve. [loss-moments]
struct Divergences {
  Interval total_variation;
  Interval kl;
  Interval chi_square;
};
[[nodiscard]] Divergences divergences_of(const Curve& curve, Direction direction = Direction::worst);

/// A guarantee by Theorem 5 of Dong, Roth and Su: f(a) >= G_mu(a + gamma) - gamma for every a, and with probability `revealed` the loss is
/// infinite. Unlike a limit it is proved for the actual number of steps; unlike the exact curve its delta never falls below `floor`.
/// [berry-esseen]
class BerryEsseen {
 public:
  BerryEsseen(Interval mu, Interval gamma, Interval revealed = Interval::exactly(0));
  [[nodiscard]] Interval mu() const { return mu_; }
  [[nodiscard]] Interval gamma() const { return gamma_; }
  [[nodiscard]] Interval revealed() const { return revealed_; }
  /// Whether the guarantee is proved to be stronger than the trivial one.
  [[nodiscard]] bool certifies() const;
  /// The least delta it can certify at any epsilon; 1 if it certifies nothing.
  [[nodiscard]] Interval floor() const;
  [[nodiscard]] Interval delta_at(Interval epsilon) const;
  /// Infinite if delta is below the floor.
  [[nodiscard]] Interval epsilon_at(Interval delta) const;
  [[nodiscard]] Interval beta_at(Interval alpha) const;

 private:
  Interval mu_;
  Interval gamma_;
  Interval revealed_;
};

/// The limit of a plan: G_mu, and with probability `revealed` an infinite loss. An estimate: at a finite number of steps the true epsilon
/// may be larger. [central-limit]
struct CentralLimit {
  Estimate mu{0};
  Estimate revealed{0};
  std::vector<std::string> theorems;  ///< the theorems that gave the terms

  [[nodiscard]] Estimate epsilon_at(double delta) const;
  [[nodiscard]] Estimate delta_at(double epsilon) const;
};

/// The central limit theorem corrected by the skewness and the kurtosis of the loss, for each direction. An estimate. [edgeworth-expansion]
class Edgeworth {
 public:
  /// Mean, variance, third and fourth cumulant of the composed loss under P and under Q.
  struct Cumulants {
    double mean = 0, variance = 0, third = 0, fourth = 0;
  };
  struct Side {
    Cumulants under_p;
    Cumulants under_q;
  };
  Edgeworth(Side remove, Side add, double revealed) : remove_(remove), add_(add), revealed_(revealed) {}
  [[nodiscard]] Estimate delta_at(double epsilon) const;
  [[nodiscard]] Estimate epsilon_at(double delta) const;

 private:
  Side remove_;
  Side add_;
  double revealed_;
};

/// Theorem 5 with the moments of each mechanism of the plan; infinite losses are split off first. Throws UnsupportedError if a third moment
/// is not known to be finite, because the theorem needs it.
[[nodiscard]] BerryEsseen berry_esseen(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});
/// The limit of each mechanism by the theorem that covers it. Throws UnsupportedError if none does.
[[nodiscard]] CentralLimit central_limit(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});
[[nodiscard]] Edgeworth edgeworth(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});

/// CLT mu of T steps of Gaussian noise 1/mu_step on samples of rate p: Corollary 4 for fixed-size samples under replace-one neighbours,
/// with the factor sqrt(2) p sqrt(T); and its variant for Poisson samples under add-remove neighbours. [central-limit]
[[nodiscard]] Estimate uniform_sampling_limit(double mu_step, double rate, double steps);
[[nodiscard]] Estimate poisson_sampling_limit(double mu_step, double rate, double steps);

/// A conversion of a Renyi guarantee at its best order. `hi` may be claimed.
struct RenyiGuarantee {
  Interval value;    ///< epsilon or delta by the formula at this order
  double order = 0;  ///< infinite if no order gives a bound
};

namespace detail {
struct RenyiMechanisms;  // src/limit/renyi.h: private
}

/// The Renyi divergences of a plan at every order; RDP accountants add them over mechanisms. Converting them to (epsilon, delta) gives
/// valid bounds that are never better than those of the trade-off curve. [renyi-curve] [renyi-conversion]
class RenyiCurve {
 public:
  /// Encloses the divergence of this order > 1 of the pair (P, Q) of the plan; `worst` is the larger of both orders of the pair. The upper
  /// end is infinite if no bound is proved. Throws DomainError for an order that is not finite and above 1.
  [[nodiscard]] Interval at(double order, Direction direction = Direction::worst) const;
  /// The least epsilon (delta) over all orders. The bound of every order is proved; only the search for the best order is numerical.
  [[nodiscard]] RenyiGuarantee epsilon_at(Interval delta, Direction direction = Direction::worst) const;
  [[nodiscard]] RenyiGuarantee delta_at(Interval epsilon, Direction direction = Direction::worst) const;
  /// A rho such that the plan is rho-zCDP: the divergence of order a is at most rho a, for every a > 1. It is the sum over the mechanisms
  /// of mu^2/2 for a Gaussian (exact) or a known mu, and epsilon^2/2 for an (epsilon, 0)-DP mechanism; nothing if some mechanism has none.
  [[nodiscard]] std::optional<Interval> zcdp() const;

 private:
  friend struct detail::RenyiMechanisms;
  explicit RenyiCurve(std::shared_ptr<const detail::RenyiMechanisms> mechanisms) : mechanisms_(std::move(mechanisms)) {}

  std::shared_ptr<const detail::RenyiMechanisms> mechanisms_;
};

/// Throws what `analyze` throws.
[[nodiscard]] RenyiCurve renyi_curve(const Plan& plan, Neighbours neighbours = Neighbours::unstated, Tolerance tolerance = {});

/// The least epsilon at this delta (the least delta at this epsilon) that a Renyi guarantee of one order implies, by delta = exp((a - 1)(R
/// - epsilon)) (1 - 1/a)^a / (a - 1). Lossy. [renyi-conversion]
[[nodiscard]] Interval epsilon_of_renyi(double order, Interval divergence, Interval delta);
[[nodiscard]] Interval delta_of_renyi(double order, Interval divergence, Interval epsilon);

/// The same for rho-zCDP, at the best order. Lossy.
[[nodiscard]] RenyiGuarantee epsilon_of_zcdp(Interval rho, Interval delta);

}  // namespace tradeoff
