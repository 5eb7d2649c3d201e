// SPDX-License-Identifier: Apache-2.0
#include "mechanism/discrete_gaussian.h"

#include <cmath>

#include "mechanism/finite.h"
#include "mechanism/key.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

/// exp(-y^2 / (2 sigma^2)).
Interval weight(Interval sigma, double y) { return exp(-square(Interval::exactly(y) / sigma) / 2.0); }

/// Bounds the sum of the weights of all y > reach, by the first of them and a geometric series: the ratio of neighbours falls.
double tail_above(Interval sigma, double reach) {
  const Interval first = weight(sigma, reach + 1);
  const Interval ratio = exp(-(Interval::exactly(2 * reach + 3) / square(sigma)) / 2.0);
  return (first / (1.0 - ratio)).hi;
}

/// [tail-model] The normaliser is at least sigma sqrt(2 pi), and a sum of falling terms at most the integral one step earlier, so
/// P(Y >= m) <= Phi(-(m - 1)/sigma) <= exp(-((m - 1)/sigma)^2 / 2) / 2 for m >= 1; a loss of e means m = sigma^2 e/shift - shift/2.
Tail tail_of(Interval sigma, double shift) {
  const Interval mu = shift / sigma;
  const Interval offset = (Interval::exactly(shift) / 2.0 + 1.0) / sigma;  // e/mu - offset = (m - 1)/sigma
  Tail tail = gaussian_tail((-log(Interval::exactly(2)) - square(Interval::exactly(offset.hi)) / 2.0).hi, mu, (offset * mu).hi);
  tail.gaussian->slope = (Interval::exactly(offset.hi) / Interval::exactly(mu.hi)).hi;
  return tail;
}

}  // namespace

// [discrete-gaussian] Outcomes beyond the reach are given to infinite loss with a mass between 0 and their bound: 0 keeps the lower
// end of every answer valid, the bound the upper end.
LossPointer discrete_gaussian(Interval sigma, std::uint64_t sensitivity) {
  const double shift = static_cast<double>(sensitivity);
  // exp(-38.6^2 / 2) is about 1e-323: beyond this reach a weight is not a double any more.
  const double reach = std::ceil(38.6 * sigma.hi) + 1;
  Interval total = Interval::exactly(1);
  for (double y = 1; y <= reach; ++y) total = total + 2.0 * weight(sigma, y);
  const double tail = tail_above(sigma, reach);
  total = total + Interval{0, 2 * tail};
  std::vector<Atom> atoms;
  const Interval step = shift / square(sigma);
  for (double y = -reach; y <= reach + shift; ++y) {
    // A quotient of the smallest doubles may round to just below 0.
    const Interval mass = std::abs(y) <= reach ? clamp(weight(sigma, y) / total, 0, 1) : Interval{0, (Interval::exactly(tail) / total).hi};
    atoms.push_back({Interval::exactly(shift / 2 - y) * step, mass});
  }
  if (sensitivity == 0) atoms.assign(1, {Interval::exactly(0), Interval::exactly(1)});
  std::optional<Tail> model;
  if (sensitivity > 0) model = tail_of(sigma, shift);
  const Interval beyond = sensitivity == 0 ? Interval::exactly(0) : Interval{0, (Interval::exactly(tail) / total).hi};
  return finite_loss(make_atoms(std::move(atoms), beyond, beyond, true), make_key("discrete_gaussian", {sigma, Interval::exactly(shift)}),
                     {"discrete-gaussian", "the loss lies on a lattice; scalar queries, or vectors by their l1 sensitivity"}, model);
}

}  // namespace tradeoff
