// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/part.h"
#include "numeric/double_double.h"
#include "tradeoff/interval.h"
#include "transform/subsampled_nodes.h"

// The transform of a whole plan as sum_j C_j exp(s y_j) prod_a A_a(s)^{n_ja}, times one factor for all plain Gaussians and one for
// every kind of subsampled Gaussian. [break-point-expansion]
namespace tradeoff::detail::hyperbolic {

/// log of n over k, n <= 1000, and a bound on its error.
struct LogBinomial {
  double value;
  double error;
};
[[nodiscard]] LogBinomial log_binomial(std::uint32_t n, std::uint32_t k);

/// One product of terms: the number of times each term A_a occurs, the sum of their positions, and the multinomial coefficient.
struct Summand {
  numeric::DoubleDouble position;  // its distance from epsilon is multiplied by the contour variable, which may be 1e18
  double position_error = 0;
  double log_coefficient = 0;
  double log_coefficient_error = 0;
  std::vector<std::uint32_t> powers;
};

/// A kind of subsampled Gaussian step. Of Poisson sampling: its transform is exp(s b) times a power of 1 - rate times J(p)^times,
/// with p = 1 + s (remove) or p = -s (add). Of a sample of fixed size: (I(1 + s) + I(-s) + neither)^times. [sampled-plane]
struct SubsampledSteps {
  double mu = 1;
  double rate = 0.5;
  double times = 1;
  bool remove = true;
  double mu_width = 0;    ///< the true mu exceeds mu by at most this
  double rate_width = 0;  ///< the true rate exceeds rate by at most this
  SampledBy sampling = SampledBy::poisson;

  [[nodiscard]] Interval mu_interval() const { return {mu, mu + mu_width}; }
  [[nodiscard]] Interval rate_interval() const { return {rate, rate + rate_width}; }
};

struct Expansion {
  std::vector<BreakTerm> terms;
  std::vector<Summand> summands;
  std::vector<SubsampledSteps> subsampled;
  double variance = 0;  ///< sum of mu^2 over plain Gaussians: a factor exp(variance s (s+1) / 2)
  double variance_error = 0;
  Interval log_factor;  ///< log of prod (1 - rate)^times, remove direction only
  Interval infinite_mass;

  /// Some loss is unbounded, so terms whose break lies below epsilon contribute too.
  [[nodiscard]] bool unbounded_above() const;
};

/// The break points that the loss states, or those of its distribution: a plain Gaussian, or few atoms.
[[nodiscard]] std::optional<BreakExpansion> break_points_of(const Loss& loss, Direction direction, ParameterEnd end);

/// Empty if a part has no expansion or if the product has too many summands.
[[nodiscard]] std::optional<Expansion> expand(const Parts& parts, Direction direction, ParameterEnd end);

}  // namespace tradeoff::detail::hyperbolic
