// SPDX-License-Identifier: Apache-2.0
#include "engine/moments/log_moment.h"

#include <algorithm>
#include <cmath>

#include "engine/moments/profile_integral.h"
#include "loss/atoms.h"
#include "loss/loss.h"
#include "loss/transform.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr IntegralEffort six_digits{1e-7, 4000};  // relative to M - 1: enough for an epsilon of six digits
constexpr IntegralEffort three_digits{1e-3, 60};  // if every value of the profile needs a search, or few digits are enough
constexpr IntegralEffort five_digits{1e-5, 300};  // if every value of the profile needs an engine

IntegralEffort effort_for(const Loss& loss, MomentDigits digits) {
  if (digits == MomentDigits::few) return three_digits;
  switch (loss.cost()) {
    case Cost::search:
      return three_digits;
    case Cost::engine:
      return five_digits;
    case Cost::formula:
      break;
  }
  return six_digits;
}

/// The sum of mass * exp(s loss), in a form that keeps the relative accuracy of M - 1 if it is small.
Interval log_moment_of(const Atoms& atoms, double s, const Tail& tail) {
  const double largest =
      atoms.finite.empty() ? 0 : s * std::max(std::abs(atoms.finite.front().loss.hi), std::abs(atoms.finite.back().loss.lo));
  const double log_rest = log_cut_moment(atoms, s, tail);
  if (largest < 1 && log_rest < 0) {
    Interval sum{-atoms.infinite.hi, exp(Interval::exactly(log_rest)).hi};
    for (const Atom& atom : atoms.finite) sum = sum + atom.mass * expm1(atom.loss * s);
    return log1p(sum);
  }
  Interval sum = Interval::exactly(-infinity);
  for (const Atom& atom : atoms.finite) sum = log_add_exp(sum, log(atom.mass) + atom.loss * s);
  return log_rest == -infinity ? sum : Interval{sum.lo, log_add_exp(sum, Interval::exactly(log_rest)).hi};
}

/// [laplace-profile] M = ((s + 1) exp(s e) + s exp(-(s + 1) e)) / (2s + 1), e the largest loss.
Interval log_moment_of_laplace(Interval epsilon0, double s) {
  const Interval above = Interval::exactly(s) + 1.0;
  const Interval both = Interval::exactly(s) + above;
  if (s * epsilon0.hi < 1) return log1p((above * expm1(epsilon0 * s) + s * expm1(-above * epsilon0)) / both);
  return epsilon0 * s + log((above + s * exp(-both * epsilon0)) / both);
}

/// log(1 + s (s + 1) (first + second)), where the integrals of the profile are given with their scales. [profile-integral]
Interval log_moment_of_profile(const Loss& loss, Direction direction, double s, MomentDigits digits) {
  const auto integral = [&](Direction side, double rate) {
    ProfileSamples samples([&](double t) { return loss.log_delta(side, Interval::exactly(t)); }, loss.tail());
    const ProfileIntegrals found = integrate_profile(samples, rate, 0, infinity, effort_for(loss, digits));
    return found.log_scale + log(found.powers[0]);
  };
  const Interval both = log_add_exp(integral(direction, s), integral(loss.symmetric() ? direction : opposite(direction), -(s + 1)));
  const Interval product = log(Interval::exactly(s)) + log(Interval::exactly(s) + 1.0) + both;
  return product.hi < 0 ? log1p(exp(product)) : log_add_exp(Interval::exactly(0), product);
}

}  // namespace

// [renyi-curve] P(L > T) is at most the mass at infinity, so E[exp(sL); L > T] <= (s + 2) exp(sT) mass + s (s + 1) integral of exp(st)
// delta beyond T. Losses between the last atom and the T from which the tail is known add at most exp(sT) mass.
double log_cut_moment(const Atoms& atoms, double s, const Tail& tail) {
  if (atoms.infinite.hi == 0) return -infinity;
  if (atoms.finite.empty()) return infinity;
  const double last = std::max(atoms.finite.front().loss.hi, tail.gaussian ? tail.gaussian->from : 0);
  const Interval order = Interval::exactly(s);
  const Interval at_once = log(order + 3.0) + order * last + log(Interval::exactly(atoms.infinite.hi));
  const Interval beyond = log(order) + log(order + 1.0) + Interval::exactly(log_tail_integral(tail, last, s, 0));
  return log_add_exp(at_once, beyond).hi;
}

// [renyi-curve] Exact for Gaussians and finite distributions; by the nodes of the contour engine if there is a transform; otherwise by the
// profile.
Interval log_moment(const Loss& loss, Direction direction, double order_less_one, double steps, MomentDigits digits) {
  const double s = order_less_one;
  const Capabilities known = loss.capabilities(direction);
  if (known.renyi_bound != nullptr) return known.renyi_bound->cumulant(s);
  if (const auto mu = known.gaussian_mu) return Interval::exactly(s) * (Interval::exactly(s) + 1.0) * square(*mu) / 2.0;
  const Interval revealed = loss.infinite_mass(direction);
  if (revealed.lo > 0) return Interval::exactly(infinity);
  if (known.laplace_epsilon) return max(log_moment_of_laplace(*known.laplace_epsilon, s), Interval::exactly(0));
  if (const Atoms* atoms = known.atoms; atoms != nullptr && atoms->slack == 0)
    return max(log_moment_of(*atoms, s, loss.tail()), Interval::exactly(0));
  if (const Transform* transform = known.transform; transform != nullptr && transform->infinite_mass().hi == 0) {
    if (const auto moments = transform->prepare({s, s, steps, 0, false, s, 1}))
      if (const auto tilted = moments->tilt(s)) return max(tilted->log_moment(), Interval::exactly(0));
  }
  return max(log_moment_of_profile(loss, direction, s, digits), Interval::exactly(0));
}

}  // namespace tradeoff::detail
