// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "analyze/parts_of_plan.h"
#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "engine/moments/log_moment.h"
#include "limit/limit_parts.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/loss_moments.h"
#include "operators/refine.h"
#include "operators/subsampled.h"
#include "tradeoff/analyze.h"
#include "tradeoff/limit.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

/// The integrals need convexity, so a bound that is not the profile of a pair is refined first.
LossPointer pair_of(const Curve& curve) { return loss_of(curve)->is_pair() ? cached_loss(curve) : refine(loss_of(curve)); }

/// [loss-moments] Means and the cumulants of second and fourth order add over independent parts; Jensen and Cauchy-Schwarz bound the
/// others.
LossMoments moments_of_sum(const Parts& parts, Direction direction) {
  Interval mean = Interval::exactly(0), variance = mean, third = mean, fourth = mean;
  for (const Part& part : parts) {
    const PowerMoments one = power_moments(*part.loss, direction, thorough);
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    const Interval m = one.first, m2 = one.second, m3 = one.third;
    const Interval v = max(m2 - square(m), Interval::exactly(0));
    mean = mean + times * m;
    variance = variance + times * v;
    third = third + times * (m3 - 3.0 * m * m2 + 2.0 * m * square(m));
    fourth = fourth + times * (one.fourth - 4.0 * m * m3 + 6.0 * square(m) * m2 - 3.0 * square(square(m)) - 3.0 * square(v));
  }
  const Interval central = max(fourth + 3.0 * square(variance), square(variance));
  const Interval second = variance + square(mean);
  const Interval raw = max(central + 4.0 * mean * third + 6.0 * square(mean) * variance + square(square(mean)), square(second));
  const auto third_of = [](Interval square_mean, Interval fourth_mean) {
    return Interval{(square_mean * sqrt(square_mean)).lo, sqrt(square_mean * fourth_mean).hi};
  };
  return {max(mean, Interval::exactly(0)), second, third_of(second, raw), third_of(variance, central), {0, infinity}};
}

}  // namespace

LossMoments moments_of(const Curve& curve, Direction direction) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return moments_of(curve, direction); });

  const QuestionScope question;
  static const Citation used("loss-moments", "moments of the loss as integrals of its profile or sums over its atoms");
  record(used);
  return loss_moments(*pair_of(curve), direction, loss_of(curve)->cost() == Cost::formula ? thorough : quick);
}

LossMoments moments_of(const Plan& plan, Direction direction, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual())
    return numeric::in_usual_arithmetic([&] { return moments_of(plan, direction, neighbours, tolerance); });

  const QuestionScope question;
  static const Citation used("loss-moments", "moments of the loss, added over the parts");
  record(used);
  const Curve curve = analyze(plan, neighbours, tolerance);
  if (loss_of(curve)->cost() == Cost::formula) return moments_of(curve, direction);
  const RenyiCurve renyi = renyi_curve(plan, neighbours, tolerance);
  std::vector<ExponentialTail> tails;
  const Tail tail = loss_of(curve)->tail();
  const bool needed = !(loss_of(curve)->cost() == Cost::search && (tail.zero_from < infinity || tail.gdp_mu < infinity));
  for (const double s : needed ? std::vector{2.5, 4.0, 8.0, 16.0, 32.0, 64.0} : std::vector<double>{}) {
    const double log_moment_above = (renyi.at(1 + s, Direction::worst) * s).hi;
    if (log_moment_above < infinity) tails.push_back({log_moment_above, s});  // delta(t) <= exp(-st) E exp(sL)
  }
  LossMoments found = loss_moments(*pair_of(curve), direction, quick, tails);
  const Parts parts = limit_parts(parts_of_known_pairs(plan, neighbours, tolerance));
  const bool symmetric = std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->symmetric(); });
  const bool finite = std::all_of(parts.begin(), parts.end(), [](const Part& part) { return !reveals(*part.loss, Direction::worst); });
  if ((direction == Direction::worst && !symmetric) || !finite) return found;
  const LossMoments sum = moments_of_sum(parts, direction);
  return {intersect(found.kl, sum.kl), intersect(found.kappa2, sum.kappa2), intersect(found.kappa3, sum.kappa3),
          intersect(found.kappa3bar, sum.kappa3bar), found.chi2plus};
}

Divergences divergences_of(const Curve& curve, Direction direction) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return divergences_of(curve, direction); });

  const QuestionScope question;
  static const Citation used("loss-moments", "divergences as integrals of the profile or sums over its atoms");
  record(used);
  LossPointer loss = pair_of(curve);
  if (direction == Direction::worst && !loss->symmetric()) loss = std::make_shared<SymmetrizedLoss>(std::move(loss));
  const Direction side = direction == Direction::add ? Direction::add : Direction::remove;
  const Interval kl = loss_moments(*loss, side, loss_of(curve)->cost() == Cost::formula ? thorough : quick).kl;
  const Interval chi_square = expm1(log_moment(*loss, side, 1, 1));
  const Interval variation = min(curve.delta_at(Interval::exactly(0), direction), curve.advantage(direction));
  // [older-theorems] What the parts' mu imply may be less than what the refined bound does.
  const auto mu = loss_of(curve)->is_pair() ? std::nullopt : loss_of(curve)->mu_above();
  if (!mu) return {variation, kl, chi_square};
  return {variation, min(kl, square(*mu) / 2.0), min(chi_square, expm1(square(*mu)))};
}

}  // namespace tradeoff
