// SPDX-License-Identifier: Apache-2.0
#include "transform/mixture_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"

namespace tradeoff::detail {
namespace {

// Sums of half axes of the ellipses that are tried for a panel. At 1 the ellipse is the panel itself, and rule and integral are bounded
// separately; this is the only bound if t is too large for the rule.
constexpr std::array<double, 9> mixture_axes{1, 1.4, 1.8, 2.3, 3.0, 4.0, 5.5, 9.0, 16.0};
// count * mu * Im x on an ellipse stays below this; then |u| and arg u are extreme at corners of the enclosing rectangle.
constexpr double most_angle = std::numbers::pi / 2 * (1 - 1e-9);
constexpr double coarse_mixture_accuracy = 6;  // a march along the contour needs |phi| only to exp of minus this
constexpr int cells_of_panel = 8;              // for the variation of the density
constexpr double power_slack = 1e-12;          // relative error of |u| in plain doubles, times the power

}  // namespace

MixtureNodes::MixtureNodes(const MixturePair& pair, const Range& range)
    : pair_(pair),
      mu_(middle_of(pair.mu)),
      ahead_count_(static_cast<double>(pair.ahead.count())),
      behind_count_(static_cast<double>(pair.behind.count())),
      least_log_ahead_(pair.ahead.log_weight(0).lo),
      least_log_behind_(pair.behind.log_weight(0).lo) {
  if (!place_panels(range, 0)) return;
  path_.emplace(pair, low_, high_);
  fill();
  const double furthest = end_of_march(range);
  if (furthest > range.longest && log_error(range.power, furthest) > cumulant(range.power).value - coarse_mixture_accuracy) {
    const std::vector<Panel> coarse = std::move(panels_);
    panels_.clear();
    if (place_panels(range, furthest)) {
      nodes_ = {};
      fill();
    } else {
      panels_ = coarse;  // the march may end early; the answer is then left to another method
    }
  }
  const double worst = std::max(log_error(0, 0), log_error(1, 0));
  unit_error_ = 1e-60 + std::exp(std::min(700.0, worst)) * (1 + 1e-9);
}

// [mixture-transform] On the rectangle around the ellipse |u| <= u(Re x), |u| >= |u(left + i height)| and arg u <= arg u(right + i height);
// the same mirrored for v.
MixtureNodes::Panel MixtureNodes::make_panel(double left, double right) const {
  const double half = 0.5 * (right - left);
  Panel panel{0.5 * (left + right), half, {}};
  for (const double sum : mixture_axes) {
    const double wide = 0.5 * half * (sum + 1 / sum), height = 0.5 * half * (sum - 1 / sum);
    if (!(height * mu_ * std::max(ahead_count_, behind_count_) <= most_angle)) break;
    const double from = panel.centre - wide, to = panel.centre + wide;
    Ellipse ellipse;
    ellipse.log_factor = std::log(4.01 * half / (sum > 1 ? 1 - 1 / (sum * sum) : 1)) - 64 * std::log(sum) - log_root_two_pi;
    ellipse.half_square_left = 0.5 * from * from;
    ellipse.half_square_right = 0.5 * to * to;
    ellipse.log_excess = (0.5 * wide * wide + 0.5 * height * height) * (1 + 1e-9);  // (2 wide)^2/8 and |e^(-(x + iy)^2/2)|
    ellipse.ahead_left = pair_.ahead.rough(from, 0).log_modulus;
    ellipse.behind_right = pair_.behind.rough(-to, 0).log_modulus;
    const MixtureSide::Polar low = pair_.ahead.rough(from, height), high = pair_.ahead.rough(to, height);
    const MixtureSide::Polar near = pair_.behind.rough(-to, height), far = pair_.behind.rough(-from, height);
    ellipse.ahead_right = pair_.ahead.rough(to, 0).log_modulus;
    ellipse.behind_left = pair_.behind.rough(-from, 0).log_modulus;
    ellipse.ahead_least = low.log_modulus;
    ellipse.behind_least = near.log_modulus;
    ellipse.argument = (high.argument + far.argument) * (1 + bound_relative_slack);
    panel.ellipses.push_back(ellipse);
  }
  return panel;
}

// [mixture-transform] -x^2/2 + p log u + (1 - p) log v: the terms with a positive factor are convex, so with the Gaussian they exceed the
// larger of their end values by at most length^2/8; those with a negative factor are bounded by the least modulus.
double MixtureNodes::log_panel_error(const Panel& panel, double power, double t) {
  double best = infinity;
  const double up = std::max(power, 0.0), down = std::max(1 - power, 0.0);
  for (const Ellipse& e : panel.ellipses) {
    const double left = up * e.ahead_left + down * e.behind_left, right = up * e.ahead_right + down * e.behind_right;
    const double least = std::min(power, 0.0) * e.ahead_least + std::min(1 - power, 0.0) * e.behind_least;
    const double bound =
        e.log_factor + std::max(left - e.half_square_left, right - e.half_square_right) + e.log_excess + least + t * e.argument +
        bound_relative_slack * (std::abs(left) + std::abs(right) + std::abs(least) + e.half_square_left + e.half_square_right) +
        power_slack * std::abs(power);
    if (bound < best) best = bound;
  }
  return best;
}

// [mixture-transform] Right of x: u(z) <= u(x) e^(K mu (z - x)) and v(x) >= v(z) >= its weight of N(0,1): a shifted normal tail.
double MixtureNodes::log_tail_right(double power, double x) const {
  const double ahead = power * pair_.ahead.rough(x).log_density, slope = std::max(power, 0.0) * ahead_count_ * mu_;
  const double behind = (1 - power) * (power <= 1 ? pair_.behind.rough(-x).log_density : least_log_behind_);
  const double shifted = 0.5 * slope * slope - slope * x;
  return ahead + behind + shifted + log_tail_above(x - slope) + power_slack * std::abs(power) +
         bound_relative_slack * (std::abs(ahead) + std::abs(behind) + slope * slope + std::abs(slope * x)) + bound_slack;
}

double MixtureNodes::log_tail_left(double power, double x) const {
  const double behind = (1 - power) * pair_.behind.rough(-x).log_density, slope = std::max(1 - power, 0.0) * behind_count_ * mu_;
  const double ahead = power * (power >= 0 ? pair_.ahead.rough(x).log_density : least_log_ahead_);
  const double shifted = 0.5 * slope * slope + slope * x;
  return ahead + behind + shifted + log_tail_above(-x - slope) + power_slack * std::abs(power) +
         bound_relative_slack * (std::abs(ahead) + std::abs(behind) + slope * slope + std::abs(slope * x)) + bound_slack;
}

double MixtureNodes::log_error(double power, double t, const Sum&) const {
  double largest = -infinity;
  for (const Panel& panel : panels_) largest = std::max(largest, log_panel_error(panel, power, t));
  // The sum over the panels is at most their number times the largest term.
  const double panels = largest + std::log(static_cast<double>(panels_.size()));
  return log_sum(panels, log_sum(log_tail_left(power, low_), log_tail_right(power, high_))) + bound_slack;
}

/// For searches only: the t from which on the bounds of the moment make the product of all steps negligible.
double MixtureNodes::end_of_march(const Range& range) const {
  if (!(range.longest > 0)) return 0;
  const double level = cumulant(range.power).value, wanted = std::exp(-36 / range.steps);
  double earliest = infinity;
  for (const Cut& cut : cuts(range.power)) {
    const double mass = std::exp(cut.log_mass_left - level), variation = std::exp(cut.log_variation_right - level);
    if (mass < wanted) earliest = std::min(earliest, variation / (wanted - mass));
  }
  constexpr double stride = 1.25, few_steps = 200;
  if (range.steps > few_steps) return earliest < infinity ? std::min(earliest, 100 * range.longest) : 0;
  const double end = std::min(earliest, 100 * range.longest);
  for (double t = range.longest; t < end; t *= stride)
    if (log_moment_after(range.power, t) - level < std::log(wanted)) return t;
  return earliest < infinity ? end : 0;
}

// A heuristic; log_error bounds the error of the panels. Each panel is made as wide as its share of the error allows.
bool MixtureNodes::place_panels(const Range& range, double furthest) {
  const double most = std::max(1.0, range.largest_power + 0.5), least = std::min(0.0, range.least_power - 0.5);
  const double right = most * ahead_count_ * mu_ + 12, left = -(1 - least) * behind_count_ * mu_ - 12;
  if (!(right - left < 1e6)) return false;
  std::vector<std::array<double, 3>> samples;  // -x^2/2, log u, log v
  const double step = std::max(0.25, (right - left) / 400);
  for (double x = left; x <= right; x += step)
    samples.push_back({-0.5 * x * x, pair_.ahead.rough(x).log_density, pair_.behind.rough(-x).log_density});
  const double wanted = range.accuracy + 3;  // the panels share the error
  std::vector<PanelDemand> demands;
  const auto demand = [&](double power, double t, double lack) {
    double peak = -infinity;
    for (const auto& [normal, ahead, behind] : samples) peak = std::max(peak, normal + power * ahead + (1 - power) * behind);
    demands.push_back({power, t, peak - lack});
  };
  demand(range.least_power - 0.5, 0.5, wanted);
  demand(range.largest_power + 0.5, 0.5, wanted);
  demand(0, 0, wanted);
  demand(1, 0, wanted);
  demand(range.power, range.longest, wanted);
  if (furthest > 0) demand(range.power, furthest, coarse_mixture_accuracy + 3);
  const auto enough = [&](auto&& tail) {
    return std::all_of(demands.begin(), demands.end(), [&](const PanelDemand& d) { return tail(d.power) < d.level; });
  };
  low_ = -1;
  high_ = 1;
  for (double more = 0.25; !enough([&](double power) { return log_tail_right(power, high_); }); high_ += more *= 1.03)
    if (!(high_ < 1e6)) return false;
  for (double more = 0.25; !enough([&](double power) { return log_tail_left(power, low_); }); low_ -= more *= 1.03)
    if (!(low_ > -1e6)) return false;
  const auto fits = [&](const Panel& panel) {
    return std::all_of(demands.begin(), demands.end(),
                       [&](const PanelDemand& d) { return log_panel_error(panel, d.power, d.t) < d.level; });
  };
  double x = low_, width = std::min(high_ - low_, 2.0);
  while (x < high_) {
    double end = std::min(x + width, high_);
    Panel panel = make_panel(x, end);
    while (!fits(panel)) {
      width = 0.85 * (end - x);
      if (!(width > 1e-9 * (high_ - low_))) return false;
      panel = make_panel(x, end = x + width);
    }
    width = 1.3 * (end - x);
    x = end;
    panels_.push_back(std::move(panel));
    if (panels_.size() > most_panels) return false;
  }
  return true;
}

// [mixture-transform] Loss and weight are enclosed over all places that rounding of x allows; their middles are used, their widths are the
// errors.
void MixtureNodes::fill() {
  for (const Panel& panel : panels_)
    for_each_abscissa([&](double node, double weight) {
      const double x = panel.centre + panel.half * node, x_error = 4 * unit_roundoff * (std::abs(panel.centre) + panel.half);
      const Interval place{x - x_error, x + x_error};
      const Interval behind = pair_.behind.log_density(-place), loss = pair_.ahead.log_density(place) - behind;
      const Interval log_weight = log(Interval::exactly(panel.half) * Interval::exactly(weight)) - square(place) / 2.0 + behind;
      const double middle = middle_of(loss), scaled = middle_of(log_weight) - log_root_two_pi;
      nodes_.loss.push_back(middle);
      nodes_.loss_error.push_back(loss.width());
      nodes_.loss_tail.push_back(exponential_tail(middle));
      nodes_.log_weight.push_back(scaled);
      // The abscissae, their weights and the half length are rounded to nearest.
      nodes_.log_weight_error.push_back(log_weight.width() + 8 * unit_roundoff + 4 * unit_roundoff * (1 + std::abs(scaled)));
      nodes_.weight.push_back(std::exp(scaled));
    });
}

MixtureNodes::Point MixtureNodes::point_at(double x) const { return {x, pair_.ahead.rough(x), pair_.behind.rough(-x)}; }

const std::vector<MixtureNodes::Point>& MixtureNodes::points() const {
  std::call_once(found_points_, [this] {
    for (const Panel& panel : panels_)
      for (int i = 0; i < cells_of_panel; ++i) points_.push_back(point_at(panel.centre + panel.half * (2.0 * i / cells_of_panel - 1)));
    points_.push_back(point_at(high_));
  });
  return points_;
}

/// log of the density of l at x against w^p.
double MixtureNodes::log_density(double power, const Point& at) const {
  const double ahead = power * at.ahead.log_density, behind = (1 - power) * at.behind.log_density;
  return ahead + behind - 0.5 * at.x * at.x - log_root_two_pi - std::log(mu_ * (at.ahead.mean + at.behind.mean)) +
         bound_relative_slack * (std::abs(ahead) + std::abs(behind) + at.x * at.x) + power_slack * std::abs(power);
}

// [mixture-transform] (log f)' = -x + p mu m_u - (1 - p) mu m_v - mu (s_u (b_u - m_u) - s_v (b_v - m_v)), s the shares of the slope mu (m_u
// + m_v) of the loss: every mean increases with x for u and falls for v.
MixtureNodes::Bound MixtureNodes::slope(double power, const Point& left, const Point& right) const {
  const auto share = [](double one, double other) { return one > 0 ? one / (one + other) : 0.0; };
  const Interval ahead{left.ahead.mean, right.ahead.mean}, behind{right.behind.mean, left.behind.mean};
  const Interval ahead_share{share(left.ahead.mean, left.behind.mean), share(right.ahead.mean, right.behind.mean)};
  const Interval behind_share = 1.0 - ahead_share;
  const Interval ahead_spread{std::max(0.0, left.ahead.biased_mean - right.ahead.mean), right.ahead.biased_mean - left.ahead.mean};
  const Interval behind_spread{std::max(0.0, right.behind.biased_mean - left.behind.mean), left.behind.biased_mean - right.behind.mean};
  Interval bend = ahead_share * ahead_spread;
  if (behind_count_ > 0) bend = bend - behind_share * behind_spread;
  const Interval tilt = power * ahead - (1 - power) * behind;
  const Interval all = mu_ * (tilt - bend) - Interval{left.x, right.x};
  const double margin = 1e-9 * (1 + std::abs(left.x) + std::abs(right.x) + mu_ * (1 + std::abs(power)) * (ahead_count_ + behind_count_));
  return {all.lo - margin, all.hi + margin};
}

// [mixture-transform] The variation of f over a cell is the difference of its ends where its slope has one sign, and at most its largest
// value times length and slope otherwise.
std::vector<MixtureNodes::Cut> MixtureNodes::cuts(double power) const {
  const std::vector<Point>& at = points();
  std::vector<Cut> cuts;
  const double far_slope = -high_ + std::max(power, 0.0) * mu_ * ahead_count_ + std::max(power - 1, 0.0) * mu_ * at.back().behind.mean +
                           mu_ * std::max(0.0, at.back().behind.biased_mean - 0.0) * (behind_count_ > 0 ? 1 : 0);
  double variation = far_slope < -1e-6 ? log_density(power, at.back()) : infinity;  // it falls to 0 right of the panels
  for (std::size_t j = at.size() - 1; j-- > 0;) {
    const Point &left = at[j], &right = at[j + 1];
    const double length = right.x - left.x, from = log_density(power, left), to = log_density(power, right);
    double cell = infinity;
    if (from < infinity && to < infinity) {
      const Bound slope = this->slope(power, left, right);
      if (slope.least >= 0 || slope.largest <= 0) {
        const double larger = std::max(from, to);
        cell = larger + std::log(-std::expm1(std::min(from, to) - larger) + 1e-6);
      } else {
        const double top = std::min(from + length * slope.largest, to - length * slope.least);
        cell = top + std::log(length * std::max(slope.largest, -slope.least));
      }
    }
    variation = log_sum(variation, cell + 1e-9);
    if (!(variation < infinity)) break;
    cuts.push_back({left.x, log_tail_left(power, left.x), log_sum(variation, from) + bound_slack});
  }
  if (!(variation < infinity) || cuts.empty()) return cuts;
  const Point& first = at.front();
  const double left_slope = -first.x + std::min(power, 0.0) * mu_ * first.ahead.mean - std::max(1 - power, 0.0) * mu_ * behind_count_ -
                            mu_ * first.ahead.biased_mean;
  if (left_slope > 1e-6) cuts.push_back({-infinity, -infinity, log_sum(variation, log_density(power, first)) + bound_slack});
  return cuts;
}

}  // namespace tradeoff::detail
