// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "analyze/parts_of_plan.h"
#include "limit/limit_parts.h"
#include "loss/atoms.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "operators/loss_moments.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

/// Raw moments of the loss, conditional on being finite.
PowerMoments finite_moments(const Loss& loss, Direction direction) {
  if (const auto mu = loss.gaussian_mu()) {
    const Interval m = square(*mu) / 2.0, v = square(*mu);
    return {m, v + square(m), m * (square(m) + 3.0 * v), square(square(m)) + 6.0 * square(m) * v + 3.0 * square(v)};
  }
  const Atoms* atoms = loss.atoms(direction);
  if (atoms == nullptr) return power_moments(loss, direction);
  PowerMoments sums{};
  const Interval kept = 1.0 - atoms->infinite;
  for (const auto& [value, mass] : atoms->finite) {
    const Interval weight = mass / kept;
    sums.first = sums.first + weight * value;
    sums.second = sums.second + weight * square(value);
    sums.third = sums.third + weight * value * square(value);
    sums.fourth = sums.fourth + weight * square(square(value));
  }
  return sums;
}

void add_cumulants(Edgeworth::Cumulants& sum, const PowerMoments& powers, double times, double sign) {
  if (!(powers.fourth.hi < infinity)) throw UnsupportedError("Edgeworth: the fourth moment of the loss is not known to be finite");
  const double m = middle_of(powers.first), m2 = middle_of(powers.second), m3 = middle_of(powers.third), m4 = middle_of(powers.fourth);
  const double variance = m2 - m * m;
  const double third = m3 - 3 * m * m2 + 2 * m * m * m;
  const double fourth = m4 - 4 * m * m3 + 6 * m * m * m2 - 3 * m * m * m * m - 3 * variance * variance;
  sum.mean += sign * times * m;
  sum.variance += times * variance;
  sum.third += sign * times * third;
  sum.fourth += times * fourth;
}

/// [edgeworth-expansion] P(S > x) by the normal distribution, corrected by skewness and kurtosis.
double tail(const Edgeworth::Cumulants& c, double x) {
  if (!(c.variance > 0)) return x < c.mean ? 1 : 0;
  const double deviation = std::sqrt(c.variance);
  const double z = (x - c.mean) / deviation;
  const double skewness = c.third / (c.variance * deviation);
  const double kurtosis = c.fourth / (c.variance * c.variance);
  const double z2 = z * z;
  const double correction =
      skewness / 6 * (z2 - 1) + kurtosis / 24 * z * (z2 - 3) + skewness * skewness / 72 * z * (z2 * z2 - 10 * z2 + 15);
  return middle_of(normal_cdf(-z)) + middle_of(normal_density(z)) * correction;
}

double profile(const Edgeworth::Side& side, double revealed, double epsilon) {
  const double finite = tail(side.under_p, epsilon) - std::exp(epsilon) * tail(side.under_q, epsilon);
  return 1 - (1 - revealed) * (1 - std::clamp(finite, 0.0, 1.0));
}

}  // namespace

Edgeworth edgeworth(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return edgeworth(plan, neighbours, tolerance); });

  const QuestionScope question;
  static const Citation used("edgeworth-expansion", "an estimate: the next term after the limit of many steps");
  record(used);
  Edgeworth::Side remove, add;
  double log_kept = 0;
  for (const Part& part : limit_parts(parts_of_known_pairs(plan, neighbours, tolerance))) {
    const double times = static_cast<double>(part.times);
    const PowerMoments with = finite_moments(*part.loss, Direction::remove);
    const PowerMoments without = part.loss->symmetric() ? with : finite_moments(*part.loss, Direction::add);
    // The loss of one order under Q is minus the loss of the other order under its own P.
    add_cumulants(remove.under_p, with, times, 1);
    add_cumulants(remove.under_q, without, times, -1);
    add_cumulants(add.under_p, without, times, 1);
    add_cumulants(add.under_q, with, times, -1);
    log_kept += times * std::log1p(-middle_of(part.loss->infinite_mass(Direction::remove)));
  }
  return {remove, add, -std::expm1(log_kept)};
}

Estimate Edgeworth::delta_at(double epsilon) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return delta_at(epsilon); });

  return Estimate(std::max(profile(remove_, revealed_, epsilon), profile(add_, revealed_, epsilon)));
}

/// The first epsilon at which the expansion falls to delta; it need not be monotone far out.
Estimate Edgeworth::epsilon_at(double delta) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_at(delta); });

  double low = 0, high = 1;
  if (delta_at(0).value() <= delta) return Estimate(0);
  if (delta < revealed_) return Estimate(infinity);  // delta never falls below the infinite mass
  constexpr int most_steps = 1'000'000;              // a hundred thousand standard deviations; the mean of a loss is never that far out
  int steps = 0;
  const double step = std::max({remove_.under_p.variance, add_.under_p.variance, 1e-12});
  for (high = 0.1 * std::sqrt(step); delta_at(high).value() > delta; high += 0.1 * std::sqrt(step)) {
    if (high > 700 || ++steps > most_steps) return Estimate(infinity);
    low = high;
  }
  return Estimate(numeric::bisect([&](double epsilon) { return !(delta_at(epsilon).value() > delta); }, {low, high}, 60).beyond);
}

}  // namespace tradeoff
