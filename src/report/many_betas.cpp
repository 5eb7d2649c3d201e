// SPDX-License-Identifier: Apache-2.0
#include "report/many_betas.h"

#include <algorithm>

#include "curve/cached_profile.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "report/curve_table.h"

namespace tradeoff::detail::report {
namespace {

constexpr double invisible = 1e-9;  // a picture shows no smaller part of beta
constexpr int samples = 160;        // samples of each half: the error is less than a pixel on the curves of training runs

/// g(x) = 1 - delta(log x) - x alpha = height - x alpha is concave in x; its known points. [profile-duality]
struct Support {
  Interval x;
  Interval height;
};

/// For e < 0, 1 - delta(e) = exp(e) (1 - delta_swapped(-e)).
std::vector<Support> supports_of(const Curve& curve, Direction direction) {
  const double last = std::max(last_epsilon(curve, direction), last_epsilon(curve, opposite(direction)));
  std::vector<Support> supports;
  for (int i = -samples; i <= samples; ++i) {
    const Interval epsilon = Interval::exactly(last * (static_cast<double>(std::abs(i)) / samples));
    const Interval x = i < 0 ? exp(-epsilon) : exp(epsilon);
    const Interval kept = 1.0 - curve.delta_at(epsilon, i < 0 ? opposite(direction) : direction);
    supports.push_back({x, i < 0 ? x * kept : kept});
  }
  return supports;
}

/// The chord through two points at x. The whole line if the points coincide within rounding.
Interval chord_at(const Support& a, const Support& b, Interval alpha, Interval x) {
  const Interval run = b.x - a.x;
  if (!(run.lo > 0)) return Interval::whole();
  const Interval height = a.height + (b.height - a.height) / run * (x - a.x);
  return height - x * alpha;
}

/// [profile-duality] The supremum of g lies between its largest sample and the largest of the bounds between samples: a concave function
/// lies below its extended chords.
Interval supremum(const std::vector<Support>& supports, Interval alpha) {
  const std::size_t size = supports.size();
  const auto value = [&](std::size_t i) { return supports[i].height - supports[i].x * alpha; };
  double below = 0;
  double above = 0;
  for (std::size_t i = 0; i < size; ++i) {
    below = std::max(below, value(i).lo);
    above = std::max(above, value(i).hi);
  }
  for (std::size_t i = 0; i + 1 < size; ++i) {
    // Left of the middle the chord from the left, right of it the chord from the right; the outermost intervals have only one of them.
    const Interval middle = Interval::exactly(supports[i].x.lo / 2 + supports[i + 1].x.hi / 2);
    const bool has_left = i > 0, has_right = i + 2 < size;
    const Interval from_left = has_left ? chord_at(supports[i - 1], supports[i], alpha, middle) : Interval::whole();
    const Interval from_right = has_right ? chord_at(supports[i + 1], supports[i + 2], alpha, middle) : Interval::whole();
    const double single_left = has_left ? chord_at(supports[i - 1], supports[i], alpha, supports[i + 1].x).hi : infinity;
    const double single_right = has_right ? chord_at(supports[i + 1], supports[i + 2], alpha, supports[i].x).hi : infinity;
    above = std::max(above, std::min({std::max(from_left.hi, from_right.hi), single_left, single_right}));
  }
  // Outside the samples: delta is not negative in either direction, and g(x) = x (1 - alpha - delta_swapped).
  const Interval before = supports.front().x * (1.0 - alpha);
  const Interval beyond = 1.0 - supports.back().x * alpha;
  return {below, std::max({above, before.hi, beyond.hi})};
}

}  // namespace

std::vector<Interval> many_betas(const Curve& curve, Direction direction, const std::vector<double>& alphas) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return many_betas(curve, direction, alphas); });

  const QuestionScope question;
  const Negligible rest(invisible);
  const std::vector<Support> supports = supports_of(cached_curve(curve), direction);
  std::vector<Interval> betas;
  for (const double alpha : alphas) {
    const Interval most = 1.0 - Interval::exactly(alpha);
    const Interval found = supremum(supports, Interval::exactly(alpha));
    betas.push_back({std::clamp(found.lo, 0.0, most.hi), std::clamp(found.hi, 0.0, most.hi)});
  }
  return betas;
}

}  // namespace tradeoff::detail::report
