// SPDX-License-Identifier: Apache-2.0
#include "operators/loss_moments.h"

#include <algorithm>
#include <cmath>

#include "engine/moments/log_moment.h"
#include "loss/atoms.h"
#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "operators/worst_profile.h"

namespace tradeoff::detail {
namespace {

const Interval everything{infinity, infinity};

// [loss-moments] The loss is N(mu^2/2, mu^2), r = mu/2.
LossMoments moments_of_gaussian(Interval mu) {
  const Interval r = mu / 2.0;
  const Interval cube = mu * square(mu);
  const Interval two_roots = 2.0 * sqrt(2.0 / Interval{3.1415926535897931, 3.1415926535897936});
  const Interval kappa3 =
      cube * ((r * square(r) + 3.0 * r) * gaussian_delta(mu, Interval::exactly(0)) + 2.0 * (square(r) + 2.0) * normal_density(r));
  return {square(mu) / 2.0, square(mu) + square(square(mu)) / 4.0, kappa3, two_roots * cube, gaussian_chi2plus(mu)};
}

Interval cube_of_distance(Interval value) {
  const Interval distance = max(value, -value);
  return max(distance, Interval::exactly(0)) * square(value);
}

/// Sums over a finite distribution. The truncated part is bounded by |l|^3 <= 6 exp(l), on both sides of a symmetric distribution.
LossMoments moments_of_atoms(const Atoms& atoms, const Tail& tail) {
  const double log_rest = log_cut_moment(atoms, 1, tail);
  const Interval rest{0, log_rest == -infinity ? 0 : (12.0 * exp(Interval::exactly(log_rest))).hi};
  LossMoments sums{Interval{-rest.hi, rest.hi}, rest, rest, rest, rest};
  for (const auto& [loss, mass] : atoms.finite) {
    sums.kl = sums.kl + mass * loss;
    sums.kappa2 = sums.kappa2 + mass * square(loss);
    sums.kappa3 = sums.kappa3 + mass * cube_of_distance(loss);
    if (loss.hi > 0) sums.chi2plus = sums.chi2plus + mass * exp(-loss) * square(max(expm1(loss), Interval::exactly(0)));
  }
  sums.kl = max(sums.kl, Interval::exactly(0));
  for (const auto& [loss, mass] : atoms.finite) sums.kappa3bar = sums.kappa3bar + mass * cube_of_distance(loss - sums.kl);
  return sums;
}

/// The profile of a question and that of the swapped pair, on t >= 0, and the moments as their integrals. [profile-integral]
class MomentIntegrals {
 public:
  MomentIntegrals(const Loss& loss, Direction direction, const IntegralEffort& effort, const std::vector<ExponentialTail>& tails = {})
      : effort_(effort),
        profile_(loss, direction),
        samples_([this](double t) { return profile_.log_delta(Interval::exactly(t)); }, loss.tail(), tails),
        swapped_([this](double t) { return log(profile_.swapped_delta(Interval::exactly(t))); }, loss.tail(), tails) {}

  [[nodiscard]] PowerMoments powers() {
    const auto i = plain(3);
    const auto j = mirrored(3);
    return {i[0] + j[0], 2.0 * (i[1] + i[0] + j[0] - j[1]), 3.0 * (i[2] + j[2]) + 6.0 * (i[1] - j[1]),
            4.0 * (i[3] - j[3]) + 12.0 * (i[2] + j[2])};
  }

  [[nodiscard]] LossMoments moments() {
    const auto i = plain(2);
    const auto j = mirrored(2);
    LossMoments found;
    found.kl = i[0] + j[0];
    found.kappa2 = max(2.0 * (i[1] + i[0] + j[0] - j[1]), Interval::exactly(0));
    found.kappa3 = max(3.0 * (i[2] - j[2]) + 6.0 * (i[1] + j[1]), Interval::exactly(0));
    found.kappa3bar = centred(i, j, found);
    const ProfileIntegrals growing = integrate_profile(samples_, 1, 0, infinity, effort_);
    found.chi2plus = 2.0 * growing.powers[0] * exp(Interval::exactly(growing.log_scale));
    return found;
  }

 private:
  using Integrals = std::vector<Interval>;
  [[nodiscard]] static Integrals unscaled(const ProfileIntegrals& found) {
    Integrals values;
    for (const Interval& value : found.powers) values.push_back(value * exp(Interval::exactly(found.log_scale)));
    return values;
  }
  [[nodiscard]] Integrals plain(std::size_t highest) { return unscaled(integrate_profile(samples_, 0, highest, infinity, effort_)); }
  [[nodiscard]] Integrals mirrored(std::size_t highest) { return unscaled(integrate_profile(swapped_, -1, highest, infinity, effort_)); }

  /// E|L - c|^3 at a double c near kl, then the correction for kl - c: the derivative in c is at most 3 E(L - c)^2.
  [[nodiscard]] Interval centred(const Integrals& i, const Integrals& j, const LossMoments& found) {
    if (!(found.kl.hi < infinity)) return {0, infinity};
    const double centre = found.kl.lo + (found.kl.hi - found.kl.lo) / 2;
    const Interval c = Interval::exactly(centre);
    const Integrals k = unscaled(integrate_profile(samples_, 0, 2, centre, effort_));
    const Interval right = 3.0 * (i[2] - 2.0 * c * i[1] + square(c) * i[0]) + 6.0 * (i[1] - c * i[0]);
    const Interval left = 6.0 * (c * j[0] + j[1]) - 3.0 * (square(c) * j[0] + 2.0 * c * j[1] + j[2]);
    const Interval bend = 12.0 * (c * k[0] - k[1]) - 6.0 * (square(c) * k[0] - 2.0 * c * k[1] + k[2]);
    const Interval off = Interval::exactly(numeric::add_up(found.kl.hi, -found.kl.lo));
    const double slack = (3.0 * (found.kappa2 + square(off)) * off).hi;
    return max(c * square(c) + right + left + bend + Interval{-slack, slack}, Interval::exactly(0));
  }

  IntegralEffort effort_;
  Profile profile_;
  ProfileSamples samples_;
  ProfileSamples swapped_;
};

const IntegralEffort& effort_for(const Loss& loss, const IntegralEffort& effort) { return loss.cost() == Cost::search ? quick : effort; }

const Atoms* finite_law(const Loss& loss, Direction direction) {
  if (direction == Direction::worst && !loss.symmetric()) return nullptr;
  const Atoms* atoms = loss.atoms(direction == Direction::add ? Direction::add : Direction::remove);
  if (atoms == nullptr || atoms->slack != 0) return nullptr;
  return atoms->infinite.hi == 0 || atoms->mirrored ? atoms : nullptr;
}

}  // namespace

bool reveals(const Loss& loss, Direction direction) {
  const auto certain = [&](Direction side) { return loss.infinite_mass(side).lo > 0; };
  if (direction == Direction::worst) return certain(Direction::remove) || certain(Direction::add);
  return certain(direction);
}

Interval gaussian_chi2plus(Interval mu) {
  const auto at = [](double point) {  // increasing in mu
    const Interval m = Interval::exactly(point);
    const Interval zero = Interval::exactly(0);
    return expm1(square(m)) * normal_cdf(1.5 * m) + gaussian_delta(3.0 * m, zero) / 2.0 - 1.5 * gaussian_delta(m, zero);
  };
  return max(mu.lo == mu.hi ? at(mu.lo) : Interval{at(mu.lo).lo, at(mu.hi).hi}, Interval::exactly(0));
}

LossMoments loss_moments(const Loss& loss, Direction direction, const IntegralEffort& effort, const std::vector<ExponentialTail>& tails) {
  if (const auto mu = loss.gaussian_mu()) return moments_of_gaussian(*mu);
  if (reveals(loss, direction)) return {everything, everything, everything, everything, everything};
  if (const Atoms* atoms = finite_law(loss, direction)) return moments_of_atoms(*atoms, loss.tail());
  return MomentIntegrals(loss, direction, effort_for(loss, effort), tails).moments();
}

PowerMoments power_moments(const Loss& loss, Direction direction, const IntegralEffort& effort) {
  return MomentIntegrals(loss, direction, effort_for(loss, effort)).powers();
}

}  // namespace tradeoff::detail
