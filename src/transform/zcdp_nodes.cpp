// SPDX-License-Identifier: Apache-2.0
#include "transform/zcdp_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"
#include "numeric/root.h"

// [zcdp-transform]
namespace tradeoff::detail {
namespace {

// Sums of half axes of the ellipses that are tried for a panel. At 1 the ellipse is the panel itself, and rule and integral are bounded
// separately.
constexpr std::array<double, 8> ellipse_sums{1, 1.5, 2.0, 2.7, 3.7, 5.5, 9.0, 16.0};
constexpr double least_part = 1e-14;  // of the width 1/sqrt(rho): smaller s are left out, with a mass of 1e-28
constexpr int variation_cells = 16;   // per panel
constexpr double outward = 1 + 1e-9;  // of bounds that are products of a few doubles

/// The logarithm of a bound that may have underflowed.
double log_mass(double bound) { return std::log(std::max(bound, std::numeric_limits<double>::min())); }

/// The largest and the smallest of a product over two ranges.
struct Span {
  double lo, hi;
};
Span product_of(Span a, Span b) {
  const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return {lo, hi};
}

}  // namespace

ZcdpNodes::ZcdpNodes(Interval rho, Interval rate, SampledBy sampling, const Range& range, const Cut& cut)
    : rho_(middle_of(rho)),
      relative_rho_(relative_width(rho) + unit_roundoff),
      rate_(middle_of(rate)),
      relative_rate_(rate_ < 1 ? relative_width(rate) + unit_roundoff : 0),
      sampling_(sampling),
      cut_(cut),
      rest_(Interval::exactly(0)) {
  find_low(rho);
  if (sampling == SampledBy::fixed) {
    rest_ = max((1.0 - rate) * (1.0 + 2.0 * expm1(-(rho * square(start_)))), Interval::exactly(0));
  }
  if (!place_panels(range, 0)) return;
  fill();
  const double furthest = end_of_quadratures(range);
  if (furthest > range.longest && log_error(range.power, furthest) > cumulant(range.power).value - march_accuracy) {
    panels_.clear();
    nodes_ = {};
    if (!place_panels(range, furthest)) return;
    fill();
  }
  const double worst = std::max(log_error(0, 0), log_error(1, 0));
  unit_error_ = 1e-60 + (std::exp(std::min(700.0, worst)) + cut_.mass) * outward;
}

/// For searches only: the t from which on a bound of the whole moment makes quadratures needless. [zcdp-transform]
double ZcdpNodes::end_of_quadratures(const Range& range) const {
  const double furthest = end_of_march(*this, range);
  if (rate_ < 1 || !(range.longest > 0)) return furthest;
  constexpr double negligible = 40, stride = 1.25;
  const double level = cumulant(range.power).value;
  for (double t = range.longest; t < furthest; t *= stride)
    if (range.steps * (log_moment_after(range.power, t) - level) < -negligible) return t;
  return furthest;
}

// [zcdp-transform] s0 is where exp(-rho s^2) + exp(-rho (s + 1)^2) = 1: the two halves have all the mass.
Interval zcdp_start(Interval rho) {
  const auto rising = [&](double s) {
    const Interval point = Interval::exactly(s);
    return -expm1(-(rho * square(point))) - exp(-(rho * square(point + 1.0)));
  };
  const double width = 1 / std::sqrt(middle_of(rho)), least = least_part * width;
  if (rising(least).lo > 0) return {0, least};
  return numeric::increasing_root(rising, Interval::exactly(0), width, {least, 100 * width});
}

// [zcdp-transform] If the start is smaller than the part that is left out, only that is known.
void ZcdpNodes::find_low(Interval rho) {
  start_ = zcdp_start(rho);
  if (start_.lo == 0) {
    const double least = low_ = start_.hi;
    low_a_ = rho.hi * least * least * outward;
    low_b_ = 2 * rho.hi * least * (1 + least) * std::exp(-rho.lo) * outward;
    log_low_b_ = std::log(2 * rho.hi * least * (1 + least)) - rho.lo * (1 - bound_relative_slack) + bound_relative_slack;
    return;
  }
  low_ = start_.hi;
  low_a_ = 2 * rho.hi * start_.hi * start_.width() * outward;
  low_b_ = 2 * rho.hi * (1 + start_.hi) * start_.width() * outward;
  log_low_b_ = log_mass(low_b_);
}

double ZcdpNodes::x_at(double s) const { return rho_ * (2 * s + 1) - std::log1p(1 / s); }
double ZcdpNodes::slope_at(double s) const { return 2 * rho_ + 1 / (s * (1 + s)); }

double ZcdpNodes::loss_at(double x) const {
  if (rate_ == 1) return x;
  if (x <= large_exponent) return std::log1p(rate_ * std::expm1(x));
  return x + std::log(rate_) + std::log1p((1 - rate_) / rate_ * std::exp(-x));
}

double ZcdpNodes::log_density(bool positive, double s) const {
  const double root = positive ? s + 1 : s;
  return std::log(2 * rho_ * root) - rho_ * root * root;
}

std::array<ZcdpNodes::Term, 2> ZcdpNodes::terms(double power) const {
  if (sampling_ == SampledBy::fixed) return {{{true, power}, {true, 1 - power}}};  // -l has w times the mass
  return {{{true, power}, {false, power}}};
}

// [zcdp-transform] The modulus of e^x lies between the two, and its argument is at most `angle`, which is at most pi/2 below rate 1.
ZcdpNodes::Ratio ZcdpNodes::ratio_on(bool positive, double log_small, double log_large, double angle) const {
  if (!positive) {
    std::swap(log_small, log_large);
    log_small = -log_small;
    log_large = -log_large;
  }
  if (rate_ == 1) return {log_small, log_large, angle * outward};
  const double log_rate = std::log(rate_), log_rest = std::log1p(-rate_), cosine = std::cos(angle);
  const double small = log_small + log_rate - log_rest, large = log_large + log_rate - log_rest;  // relative to 1 - rate
  const double least = small > 0 ? small + 0.5 * std::log1p((2 * cosine + std::exp(-small)) * std::exp(-small))
                                 : 0.5 * std::log1p((2 * cosine + std::exp(small)) * std::exp(small));
  const double argument = std::atan2(std::sin(angle), std::exp(std::min(700.0, -large)) + cosine);
  return {log_rest + least, log_rest + log_sum(0, large), argument * outward};
}

// [zcdp-transform] On the rectangle around the ellipse, whose height is at most the distance from 0.
ZcdpNodes::Panel ZcdpNodes::make_panel(double left, double right) const {
  const double half = 0.5 * (right - left);
  Panel panel{0.5 * (left + right), half, is_cut_ && left >= cut_.at, {}};
  for (const double sum : ellipse_sums) {
    const double wide = 0.5 * half * (sum + 1 / sum), height = 0.5 * half * (sum - 1 / sum);
    const double from = sum > 1 ? panel.centre - wide : left, to = sum > 1 ? panel.centre + wide : right;
    if (!(height <= from)) break;
    const double angle = 2 * rho_ * height + height / (from * (1 + from));
    if (rate_ < 1 && !(angle <= std::numbers::pi / 2)) break;
    const double log_large = rho_ * (2 * to + 1) + std::log(std::hypot(to, height) / std::hypot(1 + to, height));
    Ellipse ellipse{std::log(4.01 * half / (sum > 1 ? 1 - 1 / (sum * sum) : 1)) - 64 * std::log(sum), {from, to, height}, {}};
    for (const bool positive : {true, false}) {
      const double move = positive ? 1 : 0;
      const double density = std::log(2 * rho_ * std::hypot(to + move, height)) - rho_ * ((from + move) * (from + move) - height * height);
      ellipse.sides[positive ? 0 : 1] = {density, ratio_on(positive, x_at(from), log_large, angle)};
    }
    panel.ellipses.push_back(ellipse);
  }
  return panel;
}

// [zcdp-transform] Without sampling the integrand is 2 rho (s + 1) (s/(1 + s))^p e^(rho p (p - 1) - rho (s + 1 - p)^2): on a rectangle its
// square completed is known better than the density and the power apart, by e^(2 rho |p|) for every unit of its length.
double ZcdpNodes::log_whole_ellipse(const Ellipse& ellipse, double p, double t) const {
  const auto& [from, to, height] = ellipse.rectangle;
  const double level = rho_ * p * (p - 1), away = std::max({0.0, from + 1 - p, p - 1 - to}), fall = rho_ * away * away,
               rise = rho_ * height * height;
  const double share =
      p >= 0 ? 0.5 * std::log((to * to + height * height) / ((1 + to) * (1 + to) + height * height)) : -std::log1p(1 / from);
  const double front = std::log(2 * rho_ * std::hypot(to + 1, height)), argument = ellipse.sides[0].ratio.argument;
  return ellipse.log_factor + front + p * share + level - fall + rise + t * argument +
         bound_relative_slack * (std::abs(front) + std::abs(p * share) + std::abs(level) + fall + rise);
}

double ZcdpNodes::log_panel_error(const Panel& panel, double power, double t) const {
  double total = -infinity;
  for (const Term& term : terms(power)) {
    if (term.positive && panel.cut) continue;
    double best = infinity;
    for (const Ellipse& ellipse : panel.ellipses) {
      if (rate_ == 1) {
        best = std::min(best, log_whole_ellipse(ellipse, term.positive ? term.power : 1 - term.power, t));
        continue;
      }
      const auto& [density, ratio] = ellipse.sides[term.positive ? 0 : 1];
      const double tilt = term.power * (term.power >= 0 ? ratio.log_largest : ratio.log_least);
      const double bound = ellipse.log_factor + density + tilt + t * ratio.argument +
                           bound_relative_slack * (std::abs(density) + std::abs(tilt) + rho_ * panel.centre * panel.centre);
      if (bound < best) best = bound;
    }
    total = log_sum(total, best);
  }
  return total;
}

// [zcdp-transform] Beyond the last panel, at s = S: the integral of b e^(px) is at most (S + 1)/(S + 1 - p) exp(rho p (p - 1) - rho (S + 1
// - p)^2), and w e^-x falls.
double ZcdpNodes::log_tail(double power) const {
  const double end = high_, x = x_at(end), margin = bound_relative_slack;
  const auto whole = [&](double p) {  // p >= 0
    const double distance = end + 1 - p;
    if (!(distance > 0)) return infinity;
    const double up = rho_ * p * (p - 1), down = rho_ * distance * distance;
    return up - down + std::log((end + 1) / distance) + margin * (std::abs(up) + down);
  };
  double total = -infinity;
  for (const Term& term : terms(power)) {
    if (term.positive && is_cut_) continue;
    const double p = term.power, loss = loss_at(term.positive ? x : -x), mass = rho_ * end * end;
    double bound = 0;
    if (term.positive)
      bound =
          p >= 0 ? p * (loss - x) + margin * p * (std::abs(loss) + x) + whole(p) : p * loss - rho_ * (end + 1) * (end + 1) * (1 - margin);
    else if (p >= 0)
      bound = p * loss - mass * (1 - margin);
    else {
      bound = p * (loss + x) + margin * -p * (std::abs(loss) + x) + whole(1 - p);
      if (rate_ < 1) bound = std::min(bound, p * std::log1p(-rate_) * outward - mass * (1 - margin));
    }
    total = log_sum(total, bound);
  }
  return total;
}

// [zcdp-transform] What the panels miss at the low end, or take too much there: between 0 and the largest start, w(-x) <= w <= w(x).
double ZcdpNodes::log_low(double power) const {
  const double x = std::max(0.0, x_at(std::max(low_, start_.hi))) * outward;
  double total = -infinity;
  for (const Term& term : terms(power)) {
    const double p = term.power;
    double bound = term.positive ? std::log(low_a_ + low_b_) + std::max(0.0, p - 1) * loss_at(x) * outward
                                 : std::log(low_a_) + std::max(0.0, -p) * -loss_at(-x) * outward;
    if (rate_ == 1 && p > 0 && p < 1) {  // Hoelder: a^q b^(1 - q)
      const double q = term.positive ? p : 1 - p, share = q * log_mass(low_a_), rest = (1 - q) * log_low_b_;
      bound = std::min(bound, share + rest + bound_relative_slack * (std::abs(share) + std::abs(rest)));
    }
    total = log_sum(total, bound);
  }
  return total;
}

// [zcdp-transform] The integral of b e^((p + it) x) on a path through s0 + it: up from s0, then to the right.
double ZcdpNodes::log_after(double p, double t) const {
  const double s = low_, level = rho_ * p * (p - 1), width = 2 * std::sqrt(std::numbers::pi * rho_);
  if (!(2 * rho_ * t * (std::abs(p) + t + 2 / width) > 1)) return infinity;  // the first bound may still increase
  const double log_growth = p < 0 ? -p * std::log1p(1 / s) : 0;              // of |s/(1 + s)|^p
  const double right = level - rho_ * t * t + std::log(width * (std::abs(p) + t) + 2) + log_growth;
  const double foot = level - rho_ * (s + 1 - p) * (s + 1 - p) + std::log(2 * rho_);
  const double turn = std::atan(1 / (1 + 2 * s));
  const double low =
      foot + std::log((1 + 2 * s) / (t * (turn / s + rho_))) + (p < 0 ? log_growth : p * std::log(std::numbers::sqrt2 * s / (1 + s)));
  const auto higher = [&](double fall, double turned) {  // from y = s on, where the phase turns by at least `turned`
    double bound = foot + log_growth - fall * s + std::log((2 * s + 1) / fall + 1 / (fall * fall));
    if (p >= 0) {
      const double powers = 0.5 * p * std::numbers::ln2 - (p + 1) * std::log(fall);
      bound = std::min(bound, foot + powers + log_sum(std::log1p(s) + std::lgamma(p + 1), std::lgamma(p + 2) - std::log(fall)));
    }
    return bound - t * turned;
  };
  double high = higher(rho_ * t, 0);
  if (rho_ >= 2) high = std::min(high, higher((rho_ - 1) * t, 0.25 * std::numbers::pi));
  const double margin = bound_relative_slack * (std::abs(level) + rho_ * (s + 1 - p) * (s + 1 - p) + rho_ * t * t + t + std::abs(p) * 40);
  return log_sum(right, log_sum(low, high)) + margin + bound_slack;
}

double ZcdpNodes::log_moment_after(double power, double t) const {
  if (rate_ < 1) return infinity;
  return log_sum(log_sum(log_after(power, t), log_after(1 - power, t)), log_low(power));
}

double ZcdpNodes::log_error(double power, double t, const Sum&) const {
  double largest = -infinity;
  for (const Panel& panel : panels_) largest = std::max(largest, log_panel_error(panel, power, t));
  // The sum over the panels is at most their number times the largest term.
  const double panels = largest + std::log(static_cast<double>(panels_.size()));
  return log_sum(log_sum(panels, log_tail(power)), start_.lo > 0 ? -infinity : log_low(power)) + bound_slack;
}

/// For searches only: the largest logarithm of the integrand times the width of the Gaussian.
double ZcdpNodes::log_peak(double power) const {
  const double width = std::sqrt(0.5 / rho_);
  double best = -infinity;
  for (const Term& term : terms(power)) {
    const auto look = [&](double s) {
      if (!(s >= low_) || (term.positive && s > cut_.at)) return;
      const double x = x_at(s);
      best = std::max(best, log_density(term.positive, s) + term.power * loss_at(term.positive ? x : -x));
    };
    const double home = term.positive ? term.power - 1 : -term.power;  // where the peak is at rate 1
    for (double s = low_; s < std::max(low_, home) + 12 * width; s *= 1.2) look(s);
    for (double s = std::max(0.0, home) - 6 * width; s < std::max(0.0, home) + 6 * width; s += 0.5 * width) look(s);
  }
  return std::max(best + std::log(width), power >= 0 && power <= 1 ? 0.0 : -infinity);
}

// A heuristic; log_error bounds the error of the panels. Each panel is made as wide as its share of the error allows.
bool ZcdpNodes::place_panels(const Range& range, double furthest) {
  const std::vector<PanelDemand> demands = demands_of(range, furthest, [this](double power) { return log_peak(power); });
  const auto all = [&](auto&& fits) { return std::all_of(demands.begin(), demands.end(), fits); };
  const double width = std::sqrt(0.5 / rho_);
  is_cut_ = low_ + width >= cut_.at;
  for (high_ = std::min(low_ + width, cut_.at); !all([&](const PanelDemand& d) { return log_tail(d.power) < d.level; });) {
    high_ += std::max(0.5 * width, 0.02 * high_);
    if (!is_cut_ && high_ >= cut_.at) is_cut_ = true, high_ = cut_.at;
    if (!(high_ < 1e12)) return false;
  }
  double s = low_, ahead = std::min(high_ - low_, 4 * low_);
  while (s < high_) {
    double end = std::min(s + ahead, is_cut_ && s < cut_.at ? cut_.at : high_);
    Panel panel = make_panel(s, end);
    while (!all([&](const PanelDemand& d) { return log_panel_error(panel, d.power, d.t) < d.level; })) {
      ahead = 0.8 * (end - s);
      if (!(ahead > 1e-9 * s)) return false;
      panel = make_panel(s, end = s + ahead);
    }
    ahead = 1.5 * (end - s);
    s = end;
    panels_.push_back(std::move(panel));
    if (panels_.size() > most_panels) return false;
  }
  return true;
}

// A point s of one half, with the weight of the rule, becomes a node; for a sample of fixed size two. The weight may be less by the share
// `doubt` of it.
void ZcdpNodes::add_point(bool positive, double s, double s_error, double log_share, double doubt) {
  const double line = rho_ * (2 * s + 1), curve = std::log1p(1 / s), x = positive ? line - curve : curve - line;
  const double x_error = 1.01 * (slope_at(s) * s_error + relative_rho_ * line + 8 * unit_roundoff * (line + curve));
  const double root = positive ? s + 1 : s, exponent = rho_ * root * root;
  const double weight_error =
      1.1 * ((1 / root + 2 * rho_ * root) * s_error + relative_rho_ * (1 + exponent) + 4 * unit_roundoff * (3 + exponent)) + doubt;
  const double log_weight = log_share + log_density(positive, s), loss = loss_at(x);
  double loss_error = x_error;
  if (rate_ < 1) {
    const double share = 1 / (1 + (1 - rate_) / rate_ * std::exp(-x));  // l'(x)
    loss_error = 1.01 * share * x_error;
    if (x <= large_exponent)
      loss_error += (9.1 * unit_roundoff + relative_rate_) * std::abs(std::expm1(-loss)) + 8.1 * unit_roundoff * std::abs(loss);
    else
      loss_error += relative_rate_ + unit_roundoff * (4.1 * std::abs(std::log(rate_)) + 2.1 * (x + std::abs(loss)) + 1);
    loss_error *= 1.05;
  }
  add_node(loss, loss_error, log_weight, weight_error);
  if (sampling_ == SampledBy::fixed)
    add_node(-loss, loss_error, log_weight + loss, weight_error + loss_error + 2 * unit_roundoff * (std::abs(log_weight) + loss));
}

void ZcdpNodes::add_node(double loss, double loss_error, double log_weight, double weight_error) {
  nodes_.loss.push_back(loss);
  nodes_.loss_error.push_back(loss_error);
  nodes_.loss_tail.push_back(exponential_tail(loss));
  nodes_.log_weight.push_back(log_weight);
  nodes_.log_weight_error.push_back(weight_error + 4 * unit_roundoff * (2 + std::abs(log_weight)));
  nodes_.weight.push_back(std::exp(log_weight));
}

void ZcdpNodes::fill() {
  for (const Panel& panel : panels_)
    for_each_abscissa([&](double node, double weight) {
      const double s = panel.centre + panel.half * node, s_error = 4 * unit_roundoff * (panel.centre + panel.half);
      const double log_share = std::log(panel.half * weight);
      if (!panel.cut) add_point(true, s, s_error, log_share);
      if (sampling_ == SampledBy::poisson) add_point(false, s, s_error, log_share);
    });
  if (start_.lo > 0) {  // between the true start and the panels: a mass from 0 to that of the largest density
    const double log_share = std::log(std::max(start_.width(), 1e-300) * outward);
    add_point(true, low_, start_.width(), log_share, 1);
    if (sampling_ == SampledBy::poisson) add_point(false, low_, start_.width(), log_share, 1);
  }
  if (rest_.hi > 0) add_node(0, 0, std::log(middle_of(rest_)), relative_width(rest_) + 8 * unit_roundoff);
  sort_by_loss();
}

double ZcdpNodes::log_atoms(double power) const {
  return log_sum(rest_.hi > 0 ? std::log(rest_.hi) : -infinity, log_low(power)) + bound_slack;
}

// [zcdp-transform] On a cell of length h where |(log f)'| <= g the density f is at most exp(gh/2) times its value in the middle, and its
// variation at most gh times that.
double ZcdpNodes::log_one_variation(const Term& term) const {
  const bool positive = term.positive;  // named: clang 14 captures no structured binding
  const double p = term.power;
  const double sign = positive ? 1 : -1;
  const auto share = [&](double s) {  // l'(x)
    return rate_ == 1 ? 1 : 1 / (1 + (1 - rate_) / rate_ * std::exp(std::min(700.0, -sign * x_at(s))));
  };
  const auto last = [&](double s) { return (2 * s + 1) / (s * (1 + s) * (2 * rho_ * s * (1 + s) + 1)); };
  const auto first = [&](double s) { return positive ? 1 / (s + 1) - 2 * rho_ * (s + 1) : 1 / s - 2 * rho_ * s; };
  const auto log_value = [&](double s) {
    const double x = sign * x_at(s), loss = loss_at(x), density = log_density(positive, s);
    const double log_share = rate_ == 1 ? 0 : std::log(rate_) + x - loss;
    return density + p * loss - log_share - std::log(slope_at(s)) +
           bound_relative_slack * (std::abs(density) + rho_ * s * s + std::abs(p * loss) + std::abs(x) + std::abs(loss));
  };
  // d log f / ds on a cell; each of its terms is monotone there
  const auto steepest = [&](double u, double v) {
    const double at_u = sign * ((p + 1) * share(u) - 1), at_v = sign * ((p + 1) * share(v) - 1);
    const Span tilt = product_of({std::min(at_u, at_v), std::max(at_u, at_v)}, {slope_at(v), slope_at(u)});
    return std::max(first(u) + tilt.hi + last(u), -(first(v) + tilt.lo + last(v))) * outward +
           1e-12 * (std::abs(tilt.lo) + std::abs(tilt.hi));
  };
  const double rise = positive ? std::max(0.0, p) : 1 + std::max(0.0, -(p + 1)) * share(high_) * outward;       // shares of this half fall
  const bool ends = positive && is_cut_;                                                                        // with a jump at the cut
  if (!ends && !(first(high_) + rise * slope_at(high_) + last(high_) < -1e-9 * rho_ * high_)) return infinity;  // it may still increase
  double total = log_sum(log_value(low_), log_value(ends ? cut_.at : high_));
  for (const Panel& panel : panels_) {
    if (positive && panel.cut) continue;
    const double cell = 2 * panel.half / variation_cells;
    for (int i = 0; i < variation_cells; ++i) {
      const double u = panel.centre - panel.half + i * cell, growth = cell * std::max(0.0, steepest(u, u + cell)) * outward;
      if (growth > 0) total = log_sum(total, log_value(u + 0.5 * cell) + 0.5 * growth + std::log(growth));
    }
  }
  return total;
}

double ZcdpNodes::log_variation(double power) const {
  const auto [one, other] = terms(power);
  return log_sum(log_one_variation(one), log_one_variation(other)) + bound_slack;
}

}  // namespace tradeoff::detail
