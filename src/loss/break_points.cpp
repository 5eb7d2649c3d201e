// SPDX-License-Identifier: Apache-2.0
#include "loss/break_points.h"

#include "numeric/arithmetic.h"

// [break-point-expansion]
namespace tradeoff {

BreakTerm break_atom(double position, Interval mass) { return {position, mass, mass, Interval::exactly(0)}; }

BreakTerms laplace_break_points(double epsilon0) {
  const Interval half = Interval::exactly(0.5);
  const Interval shrunk = half * exp(Interval::exactly(-epsilon0));
  return {{{epsilon0, Interval::exactly(1), half, half}, {-epsilon0, Interval::exactly(0), shrunk, -shrunk}}, Interval::exactly(0)};
}

BreakTerms truncated_laplace_break_points(double epsilon0, Interval bound) {
  const Interval total = -2.0 * expm1(-bound);
  const Interval kept = max(-expm1(epsilon0 - bound), Interval::exactly(0)) / total;
  const Interval tail = 1.0 / total;
  const Interval shrink = exp(Interval::exactly(-epsilon0));
  const Interval edge = exp(-bound) / total;
  return {{{epsilon0, kept + tail, kept, tail}, {-epsilon0, -edge, shrink * kept, -(shrink * tail)}},
          edge * expm1(Interval::exactly(epsilon0))};
}

BreakTerms randomized_response_break_points(double epsilon, double choices) {
  const Interval shrink = exp(Interval::exactly(-epsilon));
  const Interval total = 1.0 + (choices - 1) * shrink;
  BreakTerms result{{break_atom(epsilon, 1.0 / total), break_atom(-epsilon, shrink / total)}, Interval::exactly(0)};
  if (choices > 2) result.terms.push_back(break_atom(0, (choices - 2) * shrink / total));
  return result;
}

BreakTerms dp_break_points(double epsilon, Interval delta) {
  BreakTerms result = randomized_response_break_points(epsilon, 2);
  for (BreakTerm& term : result.terms) term = break_atom(term.position, (1.0 - delta) * term.constant);
  result.infinite_mass = delta;
  return result;
}

}  // namespace tradeoff
