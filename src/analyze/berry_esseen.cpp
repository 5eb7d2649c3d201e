// SPDX-License-Identifier: Apache-2.0
#include "analyze/berry_esseen.h"

#include <algorithm>
#include <utility>

#include "analyze/parts_of_plan.h"
#include "loss/gaussian_profile.h"
#include "loss/mirrored_delta.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "operators/finite_part.h"
#include "operators/loss_moments.h"
#include "operators/refine.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

/// Whether G_mu(a + gamma) - gamma is positive somewhere: gamma < Phi(-mu/2), the fixed point of G_mu.
enum class Verdict { yes, no, undecided };

Verdict says_something(double mu, double gamma) {
  const Interval fixed_point = normal_cdf(-Interval::exactly(mu) / 2.0);
  if (gamma >= fixed_point.hi) return Verdict::no;
  return gamma < fixed_point.lo ? Verdict::yes : Verdict::undecided;
}

/// The least delta at one mu and gamma: the value of the curve at the axis.
Interval floor_at(double mu, double gamma) {
  const Interval g = Interval::exactly(gamma);
  const Interval floor = min(gaussian_power(Interval::exactly(mu), g) + g, Interval::exactly(1));
  const Verdict verdict = says_something(mu, gamma);
  if (verdict == Verdict::no) return Interval::exactly(1);
  return verdict == Verdict::yes ? floor : Interval{floor.lo, 1};
}

/// [berry-esseen] The supporting line of slope -e^eps touches at a = Phi(-mu/2 - eps/mu) - gamma, or at a = 0 if that is negative.
Interval delta_at_point(double mu, double gamma, double epsilon) {
  if (epsilon < 0) return mirrored_delta(epsilon, delta_at_point(mu, gamma, -epsilon));  // the curve is symmetric
  const Interval floor = floor_at(mu, gamma);
  if (says_something(mu, gamma) == Verdict::no || mu == 0 || epsilon == infinity) return floor;
  const Interval m = Interval::exactly(mu);
  const Interval e = Interval::exactly(epsilon);
  const Interval touch = normal_cdf(-m / 2.0 - e / m);
  if (touch.hi < gamma) return floor;
  const Interval line = min(gaussian_delta(m, e) + Interval::exactly(gamma) * (1.0 + exp(e)), Interval::exactly(1));
  const Interval found = touch.lo >= gamma ? line : hull(line, floor);
  return says_something(mu, gamma) == Verdict::yes ? found : Interval{found.lo, 1};
}

/// [revealing-composition] delta if everything is revealed with this additional probability.
Interval beside(Interval revealed, Interval delta) {
  if (revealed.hi == 0) return delta;
  return clamp(revealed + (1.0 - revealed) * delta, 0, 1);
}

}  // namespace

BerryEsseen::BerryEsseen(Interval mu, Interval gamma, Interval revealed) : mu_(mu), gamma_(gamma), revealed_(revealed) {
  if (!(mu.lo >= 0 && gamma.lo >= 0)) throw DomainError("Berry-Esseen: mu and gamma must not be negative");
  if (!(revealed.lo >= 0 && revealed.hi <= 1)) throw DomainError("Berry-Esseen: revealed must be between 0 and 1");
}

bool BerryEsseen::certifies() const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return certifies(); });
  return floor().hi < 1;
}

Interval BerryEsseen::floor() const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return floor(); });
  return beside(revealed_, {floor_at(mu_.lo, gamma_.lo).lo, floor_at(mu_.hi, gamma_.hi).hi});
}

// A larger mu and a larger gamma are weaker guarantees, and delta decreases in epsilon: the corners give the bounds.
Interval BerryEsseen::delta_at(Interval epsilon) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return delta_at(epsilon); });

  return beside(revealed_, {delta_at_point(mu_.lo, gamma_.lo, epsilon.hi).lo, delta_at_point(mu_.hi, gamma_.hi, epsilon.lo).hi});
}

Interval BerryEsseen::epsilon_at(Interval delta) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return epsilon_at(delta); });

  if (floor().lo > delta.hi) return Interval::exactly(infinity);
  const auto judge = [&](double epsilon) {
    const Interval value = delta_at(Interval::exactly(epsilon));
    return numeric::Verdict{value.lo > delta.hi, value.hi <= delta.lo, value.lo - delta.hi};
  };
  if (judge(0).after) return Interval::exactly(0);
  double low = 0;
  for (double high = 1; high < 1024; high *= 2) {  // e^eps overflows soon after, and the floor is reached long before
    const auto verdict = judge(high);
    if (verdict.after) return numeric::narrow_bracket(judge, low, high);
    if (verdict.before) low = high;
  }
  return {low, infinity};
}

Interval BerryEsseen::beta_at(Interval alpha) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return beta_at(alpha); });

  const auto at = [](double mu, double gamma, double a) {
    const Interval g = Interval::exactly(gamma);
    return clamp(gaussian_beta(Interval::exactly(mu), min(Interval::exactly(a) + g, Interval::exactly(1))) - g, 0, 1);
  };
  const auto within = [&](double a, double revealed) {  // [revealing-composition] (1 - d) f(a/(1 - d)), and 0 beyond 1 - d
    return min(Interval::exactly(a) / (1.0 - Interval::exactly(revealed)), Interval::exactly(1));
  };
  const Interval low = at(mu_.hi, gamma_.hi, within(alpha.hi, revealed_.hi).hi);
  const Interval high = at(mu_.lo, gamma_.lo, within(alpha.lo, revealed_.lo).lo);
  return clamp((1.0 - revealed_) * Interval{low.lo, high.hi}, 0, 1);
}

// [berry-esseen] mu = 2 sum kl / sqrt(V), gamma = 0.56 sum kappa3bar / V^(3/2), V = sum of (kappa2 - kl^2).
BerryEsseen detail::berry_esseen_of(Parts parts, const IntegralEffort& effort) {
  const QuestionScope question;
  static const Citation used("berry-esseen", "the distance to the normal law is bounded by third moments");
  record(used);
  Interval kl = Interval::exactly(0), variance = kl, third = kl, log_kept = kl;
  for (Part& part : parts) {
    if (part.times == 0) continue;
    if (!part.loss->is_pair()) part.loss = refine(std::move(part.loss));
    const FinitePart finite = finite_part(part.loss);
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    log_kept = log_kept + times * log1p(-finite.revealed);
    const LossMoments moments = loss_moments(*finite.rest, Direction::worst, effort);
    if (!(moments.kappa3bar.hi < infinity))
      throw UnsupportedError("Berry-Esseen: the third moment of the loss is not known to be finite, so the theorem does not speak");
    kl = kl + times * moments.kl;
    variance = variance + times * max(moments.kappa2 - square(moments.kl), Interval::exactly(0));
    third = third + times * moments.kappa3bar;
  }
  const Interval revealed = clamp(-expm1(log_kept), 0, 1);
  if (third.hi == 0) return {Interval::exactly(0), Interval::exactly(0), revealed};
  const Interval constant = Interval::exactly(56) / 100.0;  // Shevtsova's constant for summands with different distributions
  return {2.0 * kl / sqrt(variance), constant * third / (variance * sqrt(variance)), revealed};
}

BerryEsseen detail::berry_esseen_by(const Plan& plan, Neighbours neighbours, Tolerance tolerance, const IntegralEffort& effort) {
  return berry_esseen_of(parts_of_known_pairs(plan, neighbours, tolerance), effort);
}

BerryEsseen berry_esseen(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return berry_esseen(plan, neighbours, tolerance); });

  return berry_esseen_by(plan, neighbours, tolerance, thorough);
}

}  // namespace tradeoff
