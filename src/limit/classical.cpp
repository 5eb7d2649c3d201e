// SPDX-License-Identifier: Apache-2.0
#include "limit/classical.h"

#include <algorithm>
#include <string>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

void demand_inner(Interval delta, const char* theorem) {
  if (!(delta.lo > 0 && delta.hi < 1)) throw DomainError(std::string(theorem) + " needs a delta strictly between 0 and 1");
}

/// The formula gave (epsilon, delta) for N(0, 1) against N(mu, 1); the exact profile checks it.
Interval checked(Interval mu, Interval epsilon, Interval delta) {
  if (!(gaussian_delta(Interval::exactly(mu.hi), Interval::exactly(epsilon.hi)).hi <= delta.lo))
    throw DomainError("the exact profile does not confirm the formula at this delta");
  return epsilon;
}

}  // namespace

// [profile-refinement] 1 + e^e = (1 + e^E)(1 - s), s = (wanted - delta)/(1 - delta).
Interval implied_epsilon(Interval epsilon, Interval delta, Interval wanted) {
  if (wanted.hi < delta.lo) return Interval::exactly(infinity);
  if (delta.hi >= 1) return {0, wanted.lo >= 1 ? 0 : infinity};  // delta = 1 is no guarantee
  const auto at = [](double from, double share) {
    if (from == infinity || share <= 0) return Interval::exactly(from);
    const Interval fall = clamp(Interval::exactly(share) * (1.0 + exp(-Interval::exactly(from))), 0, 1);
    return max(Interval::exactly(from) + log1p(-fall), Interval::exactly(0.0));
  };
  const Interval share = (wanted - delta) / (1.0 - delta);
  return {at(epsilon.lo, share.hi).lo, wanted.lo >= delta.hi ? at(epsilon.hi, share.lo).hi : infinity};
}

// [classical-composition]
Interval basic_composition(const std::vector<StatedRuns>& runs, Interval delta) {
  Interval epsilons = Interval::exactly(0.0), deltas = Interval::exactly(0.0);
  for (const StatedRuns& run : runs) {
    epsilons = epsilons + Interval::exactly(run.times) * run.each.epsilon;
    deltas = deltas + Interval::exactly(run.times) * run.each.delta;
  }
  if (deltas.lo > delta.hi) throw DomainError("basic composition: the deltas of the runs add up to more than delta");
  return implied_epsilon(epsilons, deltas, delta);
}

// [classical-composition] Azuma on losses within [-e_i, e_i] whose means are at most e_i (e^e_i - 1).
Interval advanced_composition(const std::vector<StatedRuns>& runs, Interval delta) {
  demand_inner(delta, "advanced composition");
  Interval squares = Interval::exactly(0.0), means = Interval::exactly(0.0), deltas = Interval::exactly(0.0);
  for (const StatedRuns& run : runs) {
    const Interval times = Interval::exactly(run.times);
    squares = squares + times * square(run.each.epsilon);
    means = means + times * run.each.epsilon * expm1(run.each.epsilon);
    deltas = deltas + times * run.each.delta;
  }
  const Interval left = delta - deltas;
  if (!(left.lo > 0)) throw DomainError("advanced composition: the deltas of the runs leave nothing of delta");
  return sqrt(-2.0 * log(left) * squares) + means;
}

// [classical-composition]
Interval renyi_corollary(Interval epsilon, std::uint64_t times, Interval delta) {
  demand_inner(delta, "the corollary of Renyi DP");
  if (!(epsilon.hi <= 1)) throw DomainError("the corollary of Renyi DP needs epsilon <= 1 in each run");
  const Interval log_inverse = -log(delta);
  if (!(log_inverse.lo >= (Interval::exactly(times) * square(epsilon)).hi))
    throw DomainError("the corollary of Renyi DP needs log(1/delta) >= runs * epsilon^2");
  return 4.0 * epsilon * sqrt(2.0 * Interval::exactly(times) * log_inverse);
}

// [classical-sampling]
Guarantee amplified(const Guarantee& run, Interval rate) {
  if (rate.lo >= 1) return run;
  const Interval share = clamp(rate, 0, 1);
  // Beyond 700 e^epsilon overflows; epsilon + log(rate) is within 1e-300 of the exact value, and epsilon is above it.
  if (run.epsilon.hi > 700) return {{std::max(0.0, (run.epsilon + log(share)).lo), run.epsilon.hi}, share * run.delta};
  return {log1p(share * expm1(run.epsilon)), share * run.delta};
}

// [classical-gaussian] [gaussian-loss]
Interval gaussian_epsilon_simple(Interval mu, Interval delta) {
  demand_inner(delta, "this formula");
  const Interval epsilon = mu * sqrt(Interval::exactly(32.0) / 9.0 * log(2.0 / delta));
  if (!(epsilon.hi <= 1)) throw DomainError("this formula holds for epsilon <= 1 only");
  return checked(mu, epsilon, delta);
}

// [classical-gaussian]
Interval gaussian_epsilon_classical(Interval mu, Interval delta) {
  demand_inner(delta, "this formula");
  const Interval epsilon = mu * sqrt(2.0 * log(1.25 / delta));
  if (!(epsilon.hi < 1)) throw DomainError("this formula holds for epsilon < 1 only");
  return checked(mu, epsilon, delta);
}

// [classical-gaussian]
Interval gaussian_epsilon_zero(Interval mu, Interval delta) {
  if (!((mu / 2.0).hi <= delta.lo)) throw DomainError("covers only epsilon = 0, which needs delta >= mu/2");
  return Interval::exactly(0.0);
}

// [classical-gaussian]
Interval gaussian_epsilon_at_least(Interval mu, Interval delta) {
  const Interval least = square(mu) / 2.0;
  if (!(delta.hi < gaussian_delta(Interval::exactly(mu.lo), Interval::exactly(least.lo)).lo))
    throw DomainError("needs delta < 1/2 - e^epsilon Phi(-sqrt(2 epsilon)) at epsilon = mu^2/2");
  return least;
}

// [classical-sampling]
Interval name_and_shame(Interval delta, std::uint64_t people) {
  if (!(delta.lo >= 0 && delta.hi <= 1)) throw DomainError("name and shame: delta must be between 0 and 1");
  if (people == 0) return Interval::exactly(0.0);
  if (delta.lo == 1) return Interval::exactly(1.0);
  return clamp(-expm1(Interval::exactly(people) * log1p(-delta)), 0, 1);
}

}  // namespace tradeoff::detail
