// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff {

/// Which end of uncertain parameters to take: the pair that dominates the truth, or one that the truth dominates.
enum class ParameterEnd { worse, better };

/// One summand exp(s b) A(s) of the transform E[exp(s L); L < infinity], with A(s) = constant + residue / (2s + 1).
/// [break-point-expansion]
struct BreakTerm {
  double position = 0;  ///< b: an exact number, so that sums of positions can be compared with epsilon
  Interval at_zero;     ///< A(0) = constant + residue, given apart because that sum may cancel
  Interval constant;    ///< A(infinity)
  Interval residue;     ///< 0 for an atom
  friend bool operator==(const BreakTerm&, const BreakTerm&) = default;
};

/// A transform that is a finite sum of such terms: atoms, Laplace, truncated Laplace.
struct BreakTerms {
  std::vector<BreakTerm> terms;
  Interval infinite_mass;
  friend bool operator==(const BreakTerms&, const BreakTerms&) = default;
};

/// P = (1 - rate) N(0,1) + rate N(mu,1) against Q = N(0,1), 0 < rate < 1: a break at log(1 - rate) or, swapped, at -log(1 - rate).
struct SubsampledGaussianBreak {
  double mu = 1;
  double rate = 0.5;
  double mu_width = 0;    ///< the true mu is up to this much larger: a doubt too small to be worth two answers
  double rate_width = 0;  ///< and the true rate
  friend bool operator==(const SubsampledGaussianBreak&, const SubsampledGaussianBreak&) = default;
};

/// C_rate of N(0,1) against N(mu,1), 0 < rate < 1: a sample of fixed size. Symmetric; its only break is at 0.
struct SampledGaussianBreak {
  double mu = 1;
  double rate = 0.5;
  double mu_width = 0;    ///< as above
  double rate_width = 0;  ///< as above
  friend bool operator==(const SampledGaussianBreak&, const SampledGaussianBreak&) = default;
};

/// N(0,1) against N(mu,1): no break, a factor exp(mu^2 s (s+1) / 2).
struct GaussianBreak {
  double mu = 0;
  friend bool operator==(const GaussianBreak&, const GaussianBreak&) = default;
};

using BreakPoints = std::variant<BreakTerms, SubsampledGaussianBreak, SampledGaussianBreak, GaussianBreak>;

/// An atom of the loss at an exact position.
[[nodiscard]] BreakTerm break_atom(double position, Interval mass);
/// Laplace noise with largest loss epsilon0.
[[nodiscard]] BreakTerms laplace_break_points(double epsilon0);
/// Laplace noise of scale 1 cut to [-bound, bound], shifted by epsilon0 <= bound.
[[nodiscard]] BreakTerms truncated_laplace_break_points(double epsilon0, Interval bound);
/// Randomised response among `choices` answers.
[[nodiscard]] BreakTerms randomized_response_break_points(double epsilon, double choices);
/// The pair that dominates every (epsilon, delta)-DP mechanism.
[[nodiscard]] BreakTerms dp_break_points(double epsilon, Interval delta);

}  // namespace tradeoff
