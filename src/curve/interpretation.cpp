// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "loss/loss.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "operators/duality.h"
#include "operators/refine.h"
#include "operators/worst_profile.h"
#include "tradeoff/error.h"
#include "tradeoff/operations.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

/// Under replace-one neighbours the data sets of any two candidates are neighbours: s <= h((1 - s)/(n - 1)). The right side decreases in s,
/// so a bound of s from one side gives one from the other.
Interval naming_fixed_point(const Curve& curve, Interval people) {
  const auto at = [&](double s) { return curve.tpr_at(clamp((1.0 - Interval::exactly(s)) / (people - 1.0), 0, 1)); };
  Interval chance{(1.0 / people).lo, curve.tpr_at(1.0 / people).hi};
  for (int i = 0; i < 50 && chance.width() > 1e-9 * chance.hi; ++i) {  // large n needs two or three iterations
    const double middle = chance.lo + chance.width() / 2;
    const Interval there = at(middle);
    if (there.lo > middle)
      chance = {middle, std::max(middle, std::min(chance.hi, there.hi))};
    else if (there.hi <= middle)
      chance = {std::min(middle, std::max(chance.lo, there.lo)), middle};
    else
      break;
  }
  return chance;
}

}  // namespace

// [naming-chance] Let Q be the output without any of the candidates. Then P_i(A_i) <= h(Q(A_i)) and the A_i are disjoint: on average at
// most h(1/n).
Interval naming_chance(const Curve& curve, std::uint64_t people) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return naming_chance(curve, people); });

  if (people < 2) throw DomainError("people: " + std::to_string(people) + " is not allowed; it must be at least 2");
  static const Citation naming("naming-chance", "the chance of naming one of equally likely people, by the largest true-positive rate");
  record(naming);
  const Interval count = Interval::exactly(static_cast<double>(people));
  if (curve.neighbours() == Neighbours::replace_one) return naming_fixed_point(curve, count);
  return curve.tpr_at(1.0 / count);
}

// [odds-factor] An event of probability p under one data set has probability at least f(1 - p) under the other, so p/f(1 - p) bounds the
// factor of every mechanism that the curve covers, and one of them attains it.
Interval odds_factor(const Curve& curve, Interval chance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return odds_factor(curve, chance); });

  if (!(chance.lo > 0 && chance.hi < 1))
    throw DomainError("chance: " + numeric::to_text_below(chance.lo) + " is not allowed; it must be strictly between 0 and 1");
  static const Citation odds("odds-factor", "the chance divided by the least probability that such an event has in the other world");
  record(odds);
  const QuestionScope question;
  const LossPointer convex = convex_form(cached_loss(curve));
  const Interval rarest = dual_beta_below_one(Profile(*convex, Direction::worst), chance);
  if (!(rarest.hi > 0)) return Interval::exactly(infinity);
  const auto pure = curve.pure_epsilon();
  const double largest_loss = std::min(loss_of(curve)->tail().zero_from, pure ? pure->value.hi : infinity);
  const double largest = exp(Interval::exactly(largest_loss)).hi;  // no loss is larger
  const double high = rarest.lo > 0 ? std::min(largest, (chance / rarest.lo).hi) : largest;
  return {std::min(high, std::max(1.0, (chance / rarest.hi).lo)), high};
}

}  // namespace tradeoff
