// SPDX-License-Identifier: Apache-2.0
#include "limit/renyi.h"

#include <algorithm>
#include <utility>

#include "analyze/parts_of_plan.h"
#include "engine/moments/best_order.h"
#include "engine/moments/log_moment.h"
#include "limit/limit_parts.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

void require_order(double order) {
  if (!(order > 1 && order < infinity))
    throw DomainError("order: " + numeric::to_text_below(order) + " is not allowed; it must be above 1 and finite");
}

}  // namespace

RenyiCurve renyi_curve(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return renyi_curve(plan, neighbours, tolerance); });

  detail::RenyiMechanisms mechanisms;
  for (Part& part : parts_of_known_pairs(plan, neighbours, tolerance)) {
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

template <class Convert>
RenyiGuarantee best_order(Convert&& convert) {
  const BestOrder best = best_order_of(std::forward<Convert>(convert));
  return {best.value, best.order};
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
    else if (const double mu_or_epsilon = std::min({tail.moment_mu, tail.gdp_mu, tail.zero_from}); mu_or_epsilon < infinity)
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
