// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "mechanism/loss.h"
#include "numeric/arithmetic.h"
#include "numeric/bracket.h"
#include "numeric/number_text.h"
#include "numeric/usual_arithmetic.h"
#include "tradeoff/error.h"
#include "tradeoff/operations.h"

namespace tradeoff {
namespace {

/// Under replace-one neighbours the candidates' worlds are neighbours of each other: s = h((1 - s)/(n - 1)) at most. The right side falls
/// in s, so a bound of s from one side gives one from the other.
Interval naming_fixed_point(const Curve& curve, Interval people) {
  const auto at = [&](double s) { return curve.tpr_at(clamp((1.0 - Interval::exactly(s)) / (people - 1.0), 0, 1)); };
  Interval chance{(1.0 / people).lo, curve.tpr_at(1.0 / people).hi};
  for (int i = 0; i < 50 && chance.width() > 1e-9 * chance.hi; ++i) {  // large crowds need two or three
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

/// P(L > e) in the worse direction, where the loss can tell.
std::optional<Interval> chance_above(const Loss& loss, double epsilon) {
  const auto remove = loss.test_at(Direction::remove, epsilon);
  const auto add = loss.symmetric() ? remove : loss.test_at(Direction::add, epsilon);
  if (!remove || !add) return std::nullopt;
  return max(remove->true_positive, add->true_positive);
}

}  // namespace

// [naming-chance] With a world Q without any of them, P_i(A_i) <= h(Q(A_i)) and the A_i are disjoint: on average at most h(1/n).
Interval naming_chance(const Curve& curve, std::uint64_t people) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return naming_chance(curve, people); });

  if (people < 2) throw DomainError("people: " + std::to_string(people) + " is not allowed; it must be at least 2");
  const Interval count = Interval::exactly(static_cast<double>(people));
  if (curve.neighbours() == Neighbours::replace_one) return naming_fixed_point(curve, count);
  return curve.tpr_at(1.0 / count);
}

// [odds-factor] P(L > e) >= delta(e), and P(L > e + s) <= delta(e)/(1 - exp(-s)) for every s > 0.
Interval odds_factor(const Curve& curve, Interval chance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return odds_factor(curve, chance); });

  if (!(chance.lo > 0 && chance.hi < 1))
    throw DomainError("chance: " + numeric::to_text_below(chance.lo) + " is not allowed; it must be strictly between 0 and 1");
  const double low = curve.epsilon_at(chance).lo;
  double high = curve.loss()->tail().zero_from;  // no loss is larger
  // The best s is near the reciprocal of the slope of log delta; a few cover what plans have.
  constexpr std::array<double, 8> steps = {0.003, 0.01, 0.03, 0.1, 0.3, 0.7, 1.5, 3};
  for (const double step : steps) {
    const Interval s = Interval::exactly(step);
    const Interval epsilon = curve.epsilon_at(max(-expm1(-s) * chance, Interval::exactly(0)));
    high = std::min(high, (epsilon + s).hi);
  }
  high = std::max(low, high);
  if (high < infinity && high > low && chance_above(*curve.loss(), low)) {
    const auto judge = [&](double epsilon) {
      const Interval above = chance_above(*curve.loss(), epsilon).value_or(Interval{0, 1});
      return numeric::Verdict{above.lo > chance.hi, above.hi <= chance.lo, above.lo - chance.hi};
    };
    const Interval found = numeric::narrow_bracket(judge, low, high);
    return exp(found);
  }
  return exp(Interval{low, high});
}

}  // namespace tradeoff
