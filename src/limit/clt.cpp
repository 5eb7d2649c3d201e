// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyze/parts_of_plan.h"
#include "engine/moments/log_moment.h"
#include "limit/limit_parts.h"
#include "loss/atoms.h"
#include "loss/gaussian_profile.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/loss_moments.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"

// Plain doubles: nothing here is proved, and the types show it.
namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

constexpr IntegralEffort five_digits{1e-5, 1000};  // an estimate is printed with no more

/// The contribution of one run of a mechanism to mu^2, and its theorem.
struct Contribution {
  double mu_squared = 0;
  double revealed = 0;
  const char* theorem = "";
};

/// Two losses +-e and perhaps an infinite one: the pair of an (epsilon, delta) guarantee.
std::optional<double> pure_epsilon(const Loss& loss) {
  const Atoms* atoms = loss.atoms(Direction::remove);
  if (atoms == nullptr || !atoms->mirrored || atoms->finite.size() != 2) return std::nullopt;
  return middle_of(atoms->finite.front().loss);
}

// [central-limit]
Contribution contribution(const Loss& loss) {
  if (const auto mu = loss.gaussian_mu()) return {middle_of(square(*mu)), 0, "gaussian-composition"};
  if (const auto epsilon = pure_epsilon(loss))
    return {*epsilon * *epsilon, middle_of(loss.infinite_mass(Direction::remove)), "Theorem 7: many (epsilon, delta) guarantees"};
  if (const auto breaks = loss.break_points(Direction::remove, ParameterEnd::worse))
    if (const auto& sampled = breaks->sampled; sampled && sampled->sampling == SampledBy::poisson)
      return {std::pow(poisson_sampling_limit(sampled->mu, sampled->rate, 1).value(), 2), 0, "Poisson variant of Corollary 4"};
  const auto sampled = loss.capabilities(Direction::remove).sampled;
  if (sampled && sampled->sampling == SampledBy::poisson) {
    const double chi2 = std::expm1(middle_of(log_moment(*sampled->base, Direction::remove, 1, 1)));
    if (chi2 < infinity) return {std::pow(middle_of(sampled->rate), 2) * chi2, 0, "Poisson variant of Theorem 11"};
  }
  if (sampled && sampled->sampling == SampledBy::fixed) {
    const double chi2 = middle_of(loss_moments(*sampled->base, Direction::worst, five_digits).chi2plus);
    if (chi2 < infinity) return {2 * std::pow(middle_of(sampled->rate), 2) * chi2, 0, "Theorem 11: fixed-size samples"};
  }
  const LossMoments moments = loss_moments(loss, Direction::worst, five_digits);
  if (!(moments.kappa2.hi < infinity))
    throw UnsupportedError("limit: no central limit theorem covers a mechanism whose loss has no second moment");
  const double variance = middle_of(moments.kappa2) - std::pow(middle_of(moments.kl), 2);
  if (!(variance > 0)) return {};
  return {4 * std::pow(middle_of(moments.kl), 2) / variance, 0, "Theorem 6"};
}

}  // namespace

Estimate uniform_sampling_limit(double mu_step, double rate, double steps) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return uniform_sampling_limit(mu_step, rate, steps); });

  return Estimate(std::sqrt(2 * steps * middle_of(gaussian_chi2plus(Interval::exactly(mu_step)))) * rate);
}

Estimate poisson_sampling_limit(double mu_step, double rate, double steps) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return poisson_sampling_limit(mu_step, rate, steps); });

  return Estimate(std::sqrt(steps * std::expm1(mu_step * mu_step)) * rate);
}

// [central-limit] The limits of independent parts are independent Gaussians, so their mu^2 add.
CentralLimit central_limit(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return central_limit(plan, neighbours, tolerance); });

  const QuestionScope question;
  static const Citation used("central-limit", "an estimate: the limit of many steps");
  record(used);
  double mu_squared = 0;
  double log_kept = 0;
  CentralLimit limit;
  for (const Part& part : limit_parts(parts_of_known_pairs(plan, neighbours, tolerance))) {
    const Contribution one = contribution(*part.loss);
    mu_squared += static_cast<double>(part.times) * one.mu_squared;
    log_kept += static_cast<double>(part.times) * std::log1p(-one.revealed);
    const bool known = std::find(limit.theorems.begin(), limit.theorems.end(), one.theorem) != limit.theorems.end();
    if (!known && *one.theorem != '\0') limit.theorems.emplace_back(one.theorem);
  }
  limit.mu = Estimate(std::sqrt(mu_squared));
  limit.revealed = Estimate(-std::expm1(log_kept));
  return limit;
}

// G_mu, and with probability `revealed` an infinite loss: 1 - delta = (1 - revealed) (1 - delta_mu).
Estimate CentralLimit::delta_at(double epsilon) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return delta_at(epsilon); });

  return Estimate(1 - (1 - revealed.value()) * (1 - middle_of(gaussian_delta(mu.value(), epsilon))));
}

Estimate CentralLimit::epsilon_at(double delta) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_at(delta); });

  const double left = (delta - revealed.value()) / (1 - revealed.value());
  if (!(left > 0)) return Estimate(mu.value() == 0 && revealed.value() <= delta ? 0 : infinity);
  return Estimate(middle_of(gaussian_epsilon(mu.value(), std::min(left, 1.0))));
}

}  // namespace tradeoff
