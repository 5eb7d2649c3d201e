// SPDX-License-Identifier: Apache-2.0
#include "limit/renyi.h"

#include <algorithm>
#include <cmath>

#include "analyze/parts_of_plan.h"
#include "limit/limit_parts.h"
#include "limit/profile_integral.h"
#include "loss/atoms.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "loss/transform.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/minimize.h"
#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

constexpr IntegralEffort six_digits{1e-7, 4000};  // relative to M - 1: enough for an epsilon of six digits
constexpr IntegralEffort three_digits{1e-3, 60};  // if every value of the profile needs a search
constexpr IntegralEffort five_digits{1e-5, 300};  // if every value of the profile needs an engine

IntegralEffort effort_for(const Loss& loss) {
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
  const Interval order = Interval::exactly(s) + 1.0;
  const Interval both = Interval::exactly(s) + order;
  if (s * epsilon0.hi < 1) return log1p((order * expm1(epsilon0 * s) + s * expm1(-order * epsilon0)) / both);
  return epsilon0 * s + log((order + s * exp(-both * epsilon0)) / both);
}

/// log(1 + s (s + 1) (first + second)), where the integrals of the profile are given with their scales. [profile-integral]
Interval log_moment_of_profile(const Loss& loss, Direction direction, double s) {
  const auto integral = [&](Direction side, double rate) {
    ProfileSamples samples([&](double t) { return loss.log_delta(side, Interval::exactly(t)); }, loss.tail());
    const ProfileIntegrals found = integrate_profile(samples, rate, 0, infinity, effort_for(loss));
    return found.log_scale + log(found.powers[0]);
  };
  const Interval both = log_add_exp(integral(direction, s), integral(loss.symmetric() ? direction : opposite(direction), -(s + 1)));
  const Interval product = log(Interval::exactly(s)) + log(Interval::exactly(s) + 1.0) + both;
  return product.hi < 0 ? log1p(exp(product)) : log_add_exp(Interval::exactly(0), product);
}

void require_order(double order) {
  if (!(order > 1 && order < infinity))
    throw DomainError("order: " + numeric::to_text_below(order) + " is not allowed; it must be above 1 and finite");
}

}  // namespace

// P(L > T) is at most the mass at infinity, so E[exp(sL); L > T] <= (s + 2) exp(sT) mass + s (s + 1) integral of exp(st) delta beyond T.
double detail::log_cut_moment(const Atoms& atoms, double s, const Tail& tail) {
  if (atoms.infinite.hi == 0) return -infinity;
  if (atoms.finite.empty()) return infinity;
  const double last = atoms.finite.front().loss.hi;
  const Interval order = Interval::exactly(s);
  const Interval at_once = log(order + 2.0) + order * last + log(Interval::exactly(atoms.infinite.hi));
  const Interval beyond = log(order) + log(order + 1.0) + Interval::exactly(log_tail_integral(tail, last, s, 0));
  return log_add_exp(at_once, beyond).hi;
}

// [renyi-curve] Exact for Gaussians and finite distributions; by the nodes of the contour engine if there is a transform; otherwise by the
// profile.
Interval detail::log_moment(const Loss& loss, Direction direction, double order_less_one, double steps) {
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
  return max(log_moment_of_profile(loss, direction, s), Interval::exactly(0));
}

RenyiCurve renyi_curve(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return renyi_curve(plan, neighbours, tolerance); });

  detail::RenyiMechanisms mechanisms;
  for (Part& part : parts_of_plan(plan, neighbours, tolerance).parts) {
    const bool is_bound = part.loss->capabilities(Direction::remove).renyi_bound != nullptr;  // the loss states its divergences itself
    Parts one = is_bound && part.times > 0 ? Parts{std::move(part)} : limit_parts({std::move(part)});
    mechanisms.parts.insert(mechanisms.parts.end(), one.begin(), one.end());
  }
  for (const Part& part : mechanisms.parts) mechanisms.symmetric = mechanisms.symmetric && part.loss->symmetric();
  return detail::RenyiMechanisms::make(std::move(mechanisms));
}

Interval RenyiCurve::at(double order, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return at(order, direction); });

  const QuestionScope question;
  static const Citation used("renyi-curve", "divergences of the parts add");
  record(used);
  require_order(order);
  if (direction == Direction::worst) {
    const Interval remove = at(order, Direction::remove);
    return mechanisms_->symmetric ? remove : max(remove, at(order, Direction::add));
  }
  const double s = order - 1;  // exact for every double above 1
  double steps = 0;
  for (const Part& part : mechanisms_->parts) steps += static_cast<double>(part.times);
  Interval sum = Interval::exactly(0);
  for (const Part& part : mechanisms_->parts)
    sum = sum + Interval::exactly(static_cast<double>(part.times)) * log_moment(*part.loss, direction, s, steps);
  return max(sum / s, Interval::exactly(0));
}

namespace {

/// The order with the least conversion: a scan in log(order - 1), then a golden section. Every order is valid; the search affects tightness
/// only.
template <class Convert>
RenyiGuarantee best_order(Convert&& convert) {
  constexpr double least = 1.0 / 64, largest = 1 << 18;  // covers epsilon from hundreds down to 1e-5 and delta down to 1e-300
  constexpr int steps = 28;
  const double stride = std::log(largest / least) / steps;
  RenyiGuarantee best{{0, infinity}, infinity};
  double best_log = 0;
  const auto attempt = [&](double log_order) {
    const double order = 1 + std::exp(log_order);
    const Interval value = convert(order);
    if (value.hi < best.value.hi) {
      best = {value, order};
      best_log = log_order;
    }
    return value.hi;
  };
  int worse = 0;
  for (int i = 0; i <= steps && worse < 4; ++i) {  // beyond the best order the value only increases, and large orders cost most
    const double before = best.value.hi;
    attempt(std::log(least) + stride * i);
    worse = best.value.hi < before ? 0 : worse + (before < infinity ? 1 : 0);
  }
  if (!(best.value.hi < infinity)) return best;
  (void)numeric::golden_section(attempt, best_log - stride, best_log + stride, 1e-5);
  return best;
}

RenyiGuarantee worse_of(const RenyiGuarantee& one, const RenyiGuarantee& other) { return one.value.hi >= other.value.hi ? one : other; }

}  // namespace

// [renyi-conversion] log delta = (a - 1)(R - e) + (a - 1) log(a - 1) - a log a, solved for e.
Interval epsilon_of_renyi(double order, Interval divergence, Interval delta) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_of_renyi(order, divergence, delta); });

  require_order(order);
  if (divergence.hi == infinity && divergence.lo == infinity) return Interval::exactly(infinity);
  const Interval a = Interval::exactly(order);
  const Interval epsilon = divergence + log1p(-1.0 / a) - (log(delta) + log(a)) / (a - 1.0);
  return max(epsilon, Interval::exactly(0));
}

Interval delta_of_renyi(double order, Interval divergence, Interval epsilon) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return delta_of_renyi(order, divergence, epsilon); });

  require_order(order);
  const Interval a = Interval::exactly(order);
  const Interval less_one = a - 1.0;
  return min(exp(less_one * (divergence - epsilon) + less_one * log(less_one) - a * log(a)), Interval::exactly(1));
}

RenyiGuarantee RenyiCurve::epsilon_at(Interval delta, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_at(delta, direction); });

  const QuestionScope question;
  static const Citation used("renyi-conversion", "the best conversion over all orders");
  record(used);
  if (direction == Direction::worst) {
    const RenyiGuarantee remove = epsilon_at(delta, Direction::remove);
    return mechanisms_->symmetric ? remove : worse_of(remove, epsilon_at(delta, Direction::add));
  }
  return best_order([&](double order) { return epsilon_of_renyi(order, at(order, direction), delta); });
}

RenyiGuarantee RenyiCurve::delta_at(Interval epsilon, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return delta_at(epsilon, direction); });

  const QuestionScope question;
  static const Citation used("renyi-conversion", "the best conversion over all orders");
  record(used);
  if (direction == Direction::worst) {
    const RenyiGuarantee remove = delta_at(epsilon, Direction::remove);
    return mechanisms_->symmetric ? remove : worse_of(remove, delta_at(epsilon, Direction::add));
  }
  RenyiGuarantee best = best_order([&](double order) { return delta_of_renyi(order, at(order, direction), epsilon); });
  best.value = min(best.value, Interval::exactly(1));
  return best;
}

// [renyi-curve] A mechanism below G_mu is a post-processing of a Gaussian; (epsilon, 0)-DP implies epsilon^2/2.
std::optional<Interval> RenyiCurve::zcdp() const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return zcdp(); });

  const QuestionScope question;
  static const Citation used("renyi-curve", "divergences of the parts add");
  record(used);
  Interval rho = Interval::exactly(0);
  for (const Part& part : mechanisms_->parts) {
    const Tail tail = part.loss->tail();
    Interval one = Interval::exactly(infinity);
    const RenyiBound* bound = part.loss->capabilities(Direction::remove).renyi_bound;
    if (bound != nullptr && bound->rho())
      one = *bound->rho();
    else if (const auto mu = part.loss->gaussian_mu())
      one = square(*mu) / 2.0;
    else if (const double mu_or_epsilon = std::min(tail.gdp_mu, tail.zero_from); mu_or_epsilon < infinity)
      one = square(Interval::exactly(mu_or_epsilon)) / 2.0;
    else
      return std::nullopt;
    rho = rho + Interval::exactly(static_cast<double>(part.times)) * one;
  }
  return rho;
}

RenyiGuarantee epsilon_of_zcdp(Interval rho, Interval delta) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_of_zcdp(rho, delta); });

  return best_order([&](double order) { return epsilon_of_renyi(order, rho * order, delta); });
}

}  // namespace tradeoff
