// SPDX-License-Identifier: Apache-2.0
#include "loss/break_points.h"

#include "numeric/arithmetic.h"

// [break-point-expansion]
namespace tradeoff::detail {

// delta increases in mu and in the rate, for Poisson samples and for samples of fixed size.
BreakExpansion sampled_gaussian_expansion(SampledBy sampling, Interval mu, Interval rate, ParameterEnd end) {
  constexpr double few_roundings = 0x1p-50;  // the relative width of a decimal and of its reciprocal
  BreakExpansion result;
  if (mu.width() <= few_roundings * mu.lo && rate.width() <= few_roundings * rate.lo)
    result.sampled = SampledGaussianFactor{sampling, mu.lo, rate.lo, mu.width(), rate.width()};
  else if (end == ParameterEnd::worse)
    result.sampled = SampledGaussianFactor{sampling, mu.hi, rate.hi};
  else
    result.sampled = SampledGaussianFactor{sampling, mu.lo, rate.lo};
  return result;
}

BreakTerm break_atom(double position, Interval mass) { return {position, mass, mass, Interval::exactly(0)}; }

BreakExpansion laplace_break_points(double epsilon0) {
  const Interval half = Interval::exactly(0.5);
  const Interval shrunk = half * exp(Interval::exactly(-epsilon0));
  return {{{epsilon0, Interval::exactly(1), half, half}, {-epsilon0, Interval::exactly(0), shrunk, -shrunk}}, Interval::exactly(0)};
}

BreakExpansion truncated_laplace_break_points(double epsilon0, Interval bound) {
  const Interval total = -2.0 * expm1(-bound);
  const Interval kept = max(-expm1(epsilon0 - bound), Interval::exactly(0)) / total;
  const Interval tail = 1.0 / total;
  const Interval shrink = exp(Interval::exactly(-epsilon0));
  const Interval edge = exp(-bound) / total;
  return {{{epsilon0, kept + tail, kept, tail}, {-epsilon0, -edge, shrink * kept, -(shrink * tail)}},
          edge * expm1(Interval::exactly(epsilon0))};
}

BreakExpansion randomized_response_break_points(double epsilon, double choices) {
  const Interval shrink = exp(Interval::exactly(-epsilon));
  const Interval total = 1.0 + (choices - 1) * shrink;
  BreakExpansion result{{break_atom(epsilon, 1.0 / total), break_atom(-epsilon, shrink / total)}, Interval::exactly(0)};
  if (choices > 2) result.terms.push_back(break_atom(0, (choices - 2) * shrink / total));
  return result;
}

BreakExpansion dp_break_points(double epsilon, Interval delta) {
  BreakExpansion result = randomized_response_break_points(epsilon, 2);
  for (BreakTerm& term : result.terms) term = break_atom(term.position, (1.0 - delta) * term.constant);
  result.infinite_mass = delta;
  return result;
}

}  // namespace tradeoff::detail
