// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// Which end of an uncertain parameter to use: the pair that dominates the true pair, or one that the true pair dominates.
enum class ParameterEnd { worse, better };

/// Whether each record joins independently (Poisson), or a sample of fixed size is drawn (C_p).
enum class SampledBy { poisson, fixed };

/// One summand exp(s b) A(s) of the transform E[exp(s L); L < infinity], with A(s) = constant + residue / (2s + 1).
/// [break-point-expansion]
struct BreakTerm {
  double position = 0;  ///< b: an exact number, so that sums of positions can be compared with epsilon
  Interval at_zero;     ///< A(0) = constant + residue, stored because the sum may cancel
  Interval constant;    ///< A(infinity)
  Interval residue;     ///< 0 for an atom
  friend bool operator==(const BreakTerm&, const BreakTerm&) = default;
};

/// N(0,1) against N(mu,1) on a sample, 0 < rate < 1.
/// Poisson: P = (1 - rate) N(0,1) + rate N(mu,1) against Q = N(0,1), with a break at log(1 - rate) or, swapped, at -log(1 - rate).
/// Fixed size: C_rate, which is symmetric; its only break is at 0.
struct SampledGaussianFactor {
  SampledBy sampling = SampledBy::poisson;
  double mu = 1;
  double rate = 0.5;
  double mu_width = 0;    ///< the true mu exceeds mu by at most this: too little to need two evaluations
  double rate_width = 0;  ///< the true rate exceeds rate by at most this
  friend bool operator==(const SampledGaussianFactor&, const SampledGaussianFactor&) = default;
};

/// The transform of a loss as a product: a sum of terms, a sampled Gaussian, and exp(mu^2 s (s + 1) / 2). A missing factor is 1.
struct BreakExpansion {
  std::vector<BreakTerm> terms{};  ///< atoms, Laplace, truncated Laplace
  Interval infinite_mass{};        ///< the infinite mass of the terms
  std::optional<SampledGaussianFactor> sampled{};
  double gaussian_mu = 0;
  friend bool operator==(const BreakExpansion&, const BreakExpansion&) = default;
};

/// A loss whose transform has such an expansion. Mechanisms implement it; the hyperbolic contour uses it.
class BreakPoints {
 public:
  BreakPoints() = default;
  BreakPoints(const BreakPoints&) = delete;
  BreakPoints& operator=(const BreakPoints&) = delete;
  /// Empty if this direction has no expansion at these parameters.
  [[nodiscard]] virtual std::optional<BreakExpansion> expansion(Direction direction, ParameterEnd end) const = 0;

 protected:
  ~BreakPoints() = default;
};

/// The factor of a sampled Gaussian. delta increases in mu and in the rate. An interval no wider than a few roundings is passed on as its
/// lower end and its width; of a wider interval the requested end is used.
[[nodiscard]] BreakExpansion sampled_gaussian_expansion(SampledBy sampling, Interval mu, Interval rate, ParameterEnd end);
/// An atom of the loss at an exact position.
[[nodiscard]] BreakTerm break_atom(double position, Interval mass);
/// Laplace noise with largest loss epsilon0.
[[nodiscard]] BreakExpansion laplace_break_points(double epsilon0);
/// Laplace noise of scale 1 cut to [-bound, bound], shifted by epsilon0 <= bound.
[[nodiscard]] BreakExpansion truncated_laplace_break_points(double epsilon0, Interval bound);
/// Randomised response among `choices` answers.
[[nodiscard]] BreakExpansion randomized_response_break_points(double epsilon, double choices);
/// The pair that dominates every (epsilon, delta)-DP mechanism.
[[nodiscard]] BreakExpansion dp_break_points(double epsilon, Interval delta);

}  // namespace tradeoff::detail
