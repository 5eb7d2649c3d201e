// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/curve.h"

#include <algorithm>
#include <utility>

#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "operators/duality.h"
#include "operators/refine.h"
#include "operators/worst_profile.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

void require(bool holds, const char* question, Interval value, const char* allowed) {
  if (!holds) throw DomainError(std::string(question) + ": " + numeric::to_text_below(value.lo) + " is not allowed; it must be " + allowed);
}

void require_probability(const char* question, Interval value) {
  require(value.lo >= 0 && value.hi <= 1, question, value, "between 0 and 1");
}

/// Whether epsilon is at least the exact largest loss, if that is known. [largest-loss]
bool reaches(Level epsilon, const std::optional<Number>& largest_loss) {
  if (!largest_loss) return false;
  return epsilon.value().lo >= largest_loss->value.hi || (epsilon.number() != nullptr && surely_at_most(*largest_loss, *epsilon.number()));
}

void cite_exact_sum() {
  static const Citation exact("largest-loss", "the largest losses of the plan are added in exact arithmetic");
  record(exact);
}

/// Beyond the largest loss delta is 0; an enclosure of the profile need not show that. [largest-loss]
template <class Read>
Interval or_zero(const Profile& profile, Level epsilon, const detail::CurveState& state, Interval zero, Read&& read) {
  const bool exactly = reaches(epsilon, state.largest_loss);
  if (!exactly || state.loss->cost() != Cost::engine) {  // a formula has a shorter proof
    const Recording own(Recording::When::if_wanted);
    const Interval found = read();
    const bool undecided = found.lo == zero.lo && found.hi > zero.lo;
    if (!undecided || (!exactly && !(epsilon.value().lo >= profile.largest_loss().hi))) {
      own.pass_on();
      return found;
    }
  }
  profile.cite_largest_loss();
  if (exactly) cite_exact_sum();
  return zero;
}

/// [largest-loss] A largest loss L bounds beta by 1 - e^L alpha and e^-L (1 - alpha); for wide answers only, as for tiny losses.
Interval beside_largest_loss(Interval beta, Interval alpha, const detail::CurveState& state) {
  const Profile profile(*state.loss, Direction::worst);
  const double largest = profile.largest_loss().hi;
  if (beta.width() <= state.tolerance.relative * (1 - beta.lo) || !(largest < infinity)) return beta;
  const Interval factor = exp(Interval::exactly(largest)), least = max(1.0 - factor * alpha, (1.0 - alpha) / factor);
  if (!(least.lo > beta.lo)) return beta;
  profile.cite_largest_loss();
  return {std::min(least.lo, beta.hi), beta.hi};
}

/// delta as an attack sees it: what is stated of a mechanism bounds its attacks by all that it implies. [profile-refinement]
Interval implied_delta(const Curve& curve, Interval epsilon, Direction direction) {
  const Interval stated = curve.delta_at(epsilon, direction);
  const LossPointer& loss = loss_of(curve);
  if (loss->is_pair()) return stated;
  const QuestionScope question;
  return min(stated, clamp(Profile(*refine(loss), direction).delta(epsilon), 0, 1));
}

}  // namespace

Neighbours Curve::neighbours() const { return state_->neighbours; }

Tolerance Curve::tolerance() const { return state_->tolerance; }

Interval Curve::delta_at(Level level, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return delta_at(level, direction); });

  const Interval epsilon = level.value();
  require(epsilon.lo <= epsilon.hi, "epsilon", epsilon, "a real number");
  const QuestionScope question;
  const Profile profile(*state_->loss, direction);
  return or_zero(profile, level, *state_, Interval::exactly(0), [&] {
    const Interval found = clamp(profile.delta(epsilon), 0, 1);
    // Below the range of relative widths only the logarithm is narrow.
    constexpr double smallest = 4 * std::numeric_limits<double>::denorm_min();  // a few units: no width is narrow
    const bool tiny = found.hi > smallest && found.hi <= Negligible::least && Negligible::delta() == Negligible::least;
    if (!tiny || found.width() <= state_->tolerance.relative * found.hi) return found;
    return intersect(found, clamp(exp(profile.log_delta(epsilon)), 0, 1));
  });
}

Interval Curve::log_delta_at(Level level, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return log_delta_at(level, direction); });

  const Interval epsilon = level.value();
  require(epsilon.lo <= epsilon.hi, "epsilon", epsilon, "a real number");
  const QuestionScope question;
  const Profile profile(*state_->loss, direction);
  return or_zero(profile, level, *state_, Interval::exactly(-infinity),
                 [&] { return min(profile.log_delta(epsilon), Interval::exactly(0)); });
}

Interval Curve::epsilon_at(Level delta, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_at(delta, direction); });

  require_probability("delta", delta.value());
  Interval epsilon;
  {
    const QuestionScope question;
    if (delta.value().hi == 0 && state_->largest_loss) {
      Profile(*state_->loss, direction).cite_largest_loss();
      cite_exact_sum();
      return state_->largest_loss->value;
    }
    epsilon = max(invert_profile(Profile(*state_->loss, direction), delta.value()), Interval::exactly(0));
  }
  if (delta.number() == nullptr) return epsilon;
  static const Citation written("canonical-constraints", "the plan states this guarantee itself");
  static const Citation computed("finite-pair", "the probabilities of the plan, in exact arithmetic");
  for (const WrittenGuarantee& stated : state_->stated) {
    if (!surely_at_most(stated.delta, *delta.number()) || !(stated.epsilon.value.hi < epsilon.hi)) continue;
    epsilon.hi = stated.epsilon.value.hi;
    record(stated.computed ? computed : written);
  }
  return epsilon;
}

std::optional<Number> Curve::pure_epsilon() const { return state_->largest_loss; }

bool Curve::states(const Number& epsilon, const Number& delta) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return states(epsilon, delta); });

  if (delta.value.lo >= 0 && reaches(epsilon, state_->largest_loss)) return true;
  return std::any_of(state_->stated.begin(), state_->stated.end(), [&](const WrittenGuarantee& stated) {
    return surely_at_most(stated.epsilon, epsilon) && surely_at_most(stated.delta, delta);
  });
}

Interval Curve::beta_at(Level level, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return beta_at(level, direction); });

  const Interval alpha = level.value();
  require_probability("alpha", alpha);
  const QuestionScope question;
  const LossPointer convex = convex_form(cached_loss(*this));
  return beside_largest_loss(clamp(dual_beta(Profile(*convex, direction), alpha), 0, 1), alpha, *state_);
}

Interval Curve::tpr_at(Level fpr, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return tpr_at(fpr, direction); });

  const Interval alpha = fpr.value();
  require_probability("fpr", alpha);
  if (!(alpha.hi < 0.5)) return clamp(1.0 - beta_at(fpr, direction), 0, 1);
  const QuestionScope question;
  const LossPointer convex = convex_form(cached_loss(*this));
  return clamp(dual_power(Profile(*convex, direction), alpha), 0, 1);
}

Interval Curve::advantage(Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return advantage(direction); });

  return implied_delta(*this, Interval::exactly(0), direction);
}

// [membership-posterior] The best guess of membership has accuracy 1 - prior + prior * delta(log((1 - prior)/prior)); the posterior odds
// of any output are at most the prior odds times exp(largest loss).
Posterior Curve::posterior_at(Level level, Direction direction) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return posterior_at(level, direction); });

  const Interval prior = level.value();
  require(prior.lo > 0 && prior.hi < 1, "prior", prior, "strictly between 0 and 1");
  static const Citation accuracy_of_guess("membership-posterior", "accuracy by delta at the odds of the prior, odds by the largest loss");
  record(accuracy_of_guess);
  const QuestionScope question;
  const Interval largest_loss = epsilon_at(0, direction);
  const Negligible rest(0x1p-66);  // an accuracy needs delta to an absolute accuracy only
  const auto accuracy = [this, direction](double p) {
    const Interval point = Interval::exactly(p);
    return clamp(1.0 - point + point * implied_delta(*this, log((1.0 - point) / point), direction), 0, 1);
  };
  const Interval low = accuracy(prior.lo);
  const Interval high = accuracy(prior.hi);
  // The accuracy is convex in the prior, so on a short interval its ends give an upper bound; the lower bound uses that the slope is at
  // most 1.
  const double slack = numeric::add_up(prior.hi, -prior.lo);
  const Interval odds = (1.0 - prior) / prior * exp(-largest_loss);
  return {{numeric::add_down(std::min(low.lo, high.lo), -slack), std::max(low.hi, high.hi)}, clamp(1.0 / (1.0 + odds), 0, 1)};
}

}  // namespace tradeoff
