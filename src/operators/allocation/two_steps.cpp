// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/two_steps.h"

#include <algorithm>
#include <cmath>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail::allocation {
namespace {

constexpr double fewest_pair_cells = 1000, most_pair_cells = 100'000;
constexpr double last_deviation = 12;  // cells end so many deviations out
constexpr double pair_cell_price = 4;  // microseconds of a cell

/// X = exp(s z - s^2/2) - kappa exp(-s z - s^2/2), z standard normal: one of two independent copies.
class OneStep {
 public:
  OneStep(double s, double kappa) : s_(Interval::exactly(s)), kappa_(Interval::exactly(kappa)), half_(square(s_) / 2.0) {}

  [[nodiscard]] Interval value(Interval z) const { return exp(s_ * z - half_) - kappa_ * exp(-s_ * z - half_); }
  /// P(a < z <= b) and E[X; a < z <= b] of neighbouring places.
  [[nodiscard]] static Interval mass(Interval a, Interval b) {
    return a.lo > 0 ? normal_cdf(-a) - normal_cdf(-b) : normal_cdf(b) - normal_cdf(a);
  }
  [[nodiscard]] Interval mean(Interval a, Interval b) const { return mass(a - s_, b - s_) - kappa_ * mass(a + s_, b + s_); }

  /// E(X + x)+, which rises with x, is convex and has slopes between 0 and 1. Beyond the threshold z, where X = -x, all of it counts.
  [[nodiscard]] Interval excess(double x) const {
    const Interval shift = Interval::exactly(x), a = -shift * exp(half_), root = sqrt(square(a) + 4.0 * kappa_);
    const Interval power = x > 0 ? 2.0 * kappa_ / (root - a) : (root + a) / 2.0;
    const Interval z = log(power) / s_;
    return max(normal_cdf(s_ - z) - kappa_ * normal_cdf(-s_ - z) + shift * normal_cdf(-z), Interval::exactly(0));
  }

 private:
  Interval s_, kappa_, half_;
};

/// Sums over cells of z: the other copy is conditioned on its cell, and its excess is convex. At the mean of a cell it is below the mean of
/// its values, and the chord between the ends is above. [allocation-replace-one]
double pair_by_cells(const OneStep& step, double s, double cells, bool above) {
  const double first = -last_deviation, last = s + last_deviation, h = (last - first) / cells;
  const auto place = [&](double i) { return Interval::exactly(first + h * i); };  // any increasing doubles do
  double sum = 0;
  Interval left = place(0), left_value = step.value(left);
  double left_excess = above ? step.excess(left_value.hi).hi : 0;
  for (double i = 1; i <= cells; ++i) {
    const Interval right = place(i), right_value = step.value(right);
    const Interval mass = OneStep::mass(left, right), mean = step.mean(left, right);
    if (above) {
      const double right_excess = step.excess(right_value.hi).hi;
      const Interval width = right_value - left_value;
      const auto share = [&](Interval part) { return std::clamp((part / width).hi, 0.0, mass.hi); };
      const double to_left = width.lo > 0 ? share(right_value * mass - mean) : 0,
                   to_right = width.lo > 0 ? share(mean - left_value * mass) : mass.hi;
      sum = numeric::add_up(sum, numeric::add_up(numeric::multiply_up(to_left, left_excess), numeric::multiply_up(to_right, right_excess)));
      left_excess = right_excess;
    } else if (mass.lo > 0) {
      const double middle = std::clamp((mean / mass).lo, left_value.lo, right_value.hi);
      sum = numeric::add_down(sum, (Interval::exactly(mass.lo) * step.excess(middle)).lo);
    }
    left = right, left_value = right_value;
  }
  if (!above) return std::max(0.0, sum);
  // Before the first cell X is smaller; beyond the last one the excess of the sum is at most that of each copy, and E X+ <= 1.
  const Interval far = Interval::exactly(last);
  const Interval outside = normal_cdf(Interval::exactly(first)) * step.excess(step.value(Interval::exactly(first)).hi) +
                           normal_cdf(Interval::exactly(s) - far) + normal_cdf(-far);
  return numeric::add_up(sum, outside.hi);
}

}  // namespace

Interval two_step_excess(Interval mu, Interval kappa, double wanted) {
  // More of the negative part makes the excess smaller.
  const OneStep above(mu.hi, kappa.lo), below(mu.lo, kappa.hi);
  Interval found{0, infinity};
  for (double cells = fewest_pair_cells;;) {
    Work::count(2 * pair_cell_price * cells);
    found = intersect(found, {pair_by_cells(below, mu.lo, cells, false) / 2, pair_by_cells(above, mu.hi, cells, true) / 2});
    const double width = (found.hi - found.lo) / found.lo;
    if (width <= wanted || cells >= most_pair_cells) return found;
    // The error is of second order.
    cells = std::min(most_pair_cells, std::max(std::ceil(cells * 1.1 * std::sqrt(width / wanted)), 1.2 * cells));
  }
}

}  // namespace tradeoff::detail::allocation
