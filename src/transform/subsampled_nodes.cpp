// SPDX-License-Identifier: Apache-2.0
#include "transform/subsampled_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"
#include "numeric/normal.h"

namespace tradeoff::detail {
namespace {

// Sums of half axes of the ellipses that are tried for a panel: small ones if w has a kink nearby, large ones for narrow panels. At 1 the
// ellipse is the panel itself, and rule and integral are bounded separately; this is the only bound if t is too large for the rule.
constexpr std::array<double, 8> sums_of_axes{1, 1.5, 2.0, 2.7, 3.7, 5.5, 9.0, 16.0};
// Im x on an ellipse stays below this; then |w| and arg w are largest at corners of the enclosing rectangle.
constexpr double most_height = std::numbers::pi / 2;
// A march along the contour needs |phi| only to exp of minus this.
constexpr double coarse_accuracy = 6;

}  // namespace

SubsampledNodes::SubsampledNodes(const SampledBase& base, Interval rate, SampledBy sampling, const Range& range)
    : base_(base), sampling_(sampling), rate_(middle_of(rate)), relative_rate_(relative_width(rate) + unit_roundoff) {
  const Interval finite = 1.0 - rate * base.missing;
  if (base.mu) {
    mu_ = middle_of(*base.mu);
    relative_mu_ = relative_width(*base.mu) + unit_roundoff;
    low_ = 0;  // a Gaussian base here has fixed-size sampling; for Poisson sampling see gaussian_nodes
  } else {
    largest_ = middle_of(base.largest);
    coefficient_ = middle_of(base.coefficient);
    width_ = relative_width(base.largest) + relative_width(base.coefficient) + relative_width(base.atom) + 4 * unit_roundoff;
    low_ = sampling == SampledBy::fixed ? 0 : -largest_;
    high_ = largest_;
  }
  if (sampling == SampledBy::poisson && base.missing.hi > 0) shift_ = -log(finite);
  if (sampling == SampledBy::fixed) scale_ = 1.0 / finite;
  log_scale_ = std::log(scale_.hi) + 1e-9;
  if (!place_panels(range, 0)) return;
  fill();
  const double furthest = end_of_march(*this, range);
  if (furthest > range.longest && log_error(range.power, furthest) > cumulant(range.power).value - coarse_accuracy) {
    panels_.clear();
    atoms_.clear();
    nodes_ = {};
    if (!place_panels(range, furthest)) return;
    fill();
  }
  const double worst = std::max(log_error(0, 0), log_error(1, 0));
  unit_error_ = 1e-60 + std::exp(std::min(700.0, worst)) * (1 + 1e-9);
}

double SubsampledNodes::loss_at(double x) const {
  if (x <= large_exponent) return std::log1p(rate_ * std::expm1(x));
  return x + std::log(rate_) + std::log1p((1 - rate_) / rate_ * std::exp(-x));
}

double SubsampledNodes::log_density(double x) const {
  if (!base_.mu) return std::log(coefficient_) - 0.5 * x;
  const double z = x / mu_ + 0.5 * mu_;
  return -0.5 * z * z - log_root_two_pi - std::log(mu_);
}

double SubsampledNodes::log_density_above(double left, double right, double height) const {
  if (!base_.mu) return log_density(left);
  const double peak = -0.5 * mu_ * mu_;
  const double nearest = std::clamp(peak, left, right);
  return log_density(nearest) + 0.5 * (height / mu_) * (height / mu_);
}

// [subsampled-transform] On the rectangle around the ellipse |w| <= w(right), |w| >= |w(left + i height)| and arg w <= arg w(right +
// i height), because height <= pi/2.
SubsampledNodes::Panel SubsampledNodes::make_panel(double left, double right) const {
  const double half = 0.5 * (right - left);
  Panel panel{0.5 * (left + right), half, {}};
  for (const double sum : sums_of_axes) {
    const double wide = 0.5 * half * (sum + 1 / sum), height = 0.5 * half * (sum - 1 / sum);
    if (!(height <= most_height)) break;
    const double from = panel.centre - wide, to = panel.centre + wide, rest = 1 - rate_;
    const double small = rate_ * std::exp(from), cosine = std::cos(height), sine = std::sin(height);
    Ellipse ellipse;
    ellipse.log_factor = std::log(4.01 * half / (sum > 1 ? 1 - 1 / (sum * sum) : 1)) - 64 * std::log(sum);
    ellipse.log_density = log_density_above(from, to, height);
    ellipse.log_ratio_left = 0.5 * std::log(rest * rest + 2 * rest * small * cosine + small * small);
    ellipse.log_ratio_right = loss_at(to);
    ellipse.argument = std::atan2(sine, rest / rate_ * std::exp(-to) + cosine) * (1 + bound_relative_slack);
    panel.ellipses.push_back(ellipse);
  }
  return panel;
}

double SubsampledNodes::log_panel_error(const Panel& panel, double power, double t) {
  double best = infinity;
  for (const Ellipse& ellipse : panel.ellipses) {
    const double ratio = power * (power >= 0 ? ellipse.log_ratio_right : ellipse.log_ratio_left);
    const double bound = ellipse.log_factor + ellipse.log_density + ratio + t * ellipse.argument +
                         bound_relative_slack * (std::abs(ellipse.log_density) + std::abs(ratio));
    if (bound < best) best = bound;
  }
  return best;
}

// [subsampled-transform] Right of the last panel w(x) <= w(high) e^(x - high): the integral is a normal tail, shifted by the power.
double SubsampledNodes::log_tail(double power) const {
  if (!base_.mu) return -infinity;
  const double loss = loss_at(high_), z = high_ / mu_ + 0.5 * mu_;
  if (power < 0) return power * loss + log_tail_above(z);
  const double exponent = power * (loss - high_) + 0.5 * power * (power - 1) * mu_ * mu_;
  return exponent + bound_relative_slack * power * (std::abs(loss) + high_ + power * mu_ * mu_) + log_tail_above(z - power * mu_);
}

/// The logarithm of E_Q[w^p; panels], for the half that keeps its mass.
double SubsampledNodes::log_one_error(double power, double t) const {
  double largest = -infinity;
  for (const Panel& panel : panels_) largest = std::max(largest, log_panel_error(panel, power, t));
  // The sum over the panels is at most their number times the largest term.
  return log_sum(largest + std::log(static_cast<double>(panels_.size())), log_tail(power));
}

double SubsampledNodes::log_error(double power, double t, const Sum&) const {
  double bound = log_one_error(power, t);
  if (sampling_ == SampledBy::fixed) bound = log_sum(bound, log_one_error(1 - power, t));  // -l has w times the mass
  return bound + log_scale_ + power * (power >= 0 ? shift_.hi : shift_.lo) + bound_slack;
}

/// For searches only: the largest logarithm of the integrand, over both halves.
double SubsampledNodes::log_peak(double power) const {
  const double end = base_.mu ? mu_ * (std::abs(power) + 12) * std::max(1.0, mu_) + 2 : largest_;
  const auto peak = [&](double p) {
    double best = -infinity, start = base_.mu ? 1e-3 * mu_ : 1e-3 * largest_;
    for (double x = low_; x <= end; x += start *= 1.15) best = std::max(best, log_density(x) + p * loss_at(x));
    if (!base_.mu) best = std::max(best, log_density(largest_) + p * loss_at(largest_));
    return best + std::log(base_.mu ? mu_ : largest_);
  };
  const double one = peak(power);
  return std::max(sampling_ == SampledBy::fixed ? std::max(one, peak(1 - power)) : one, power >= 0 && power <= 1 ? 0.0 : -infinity);
}

// A heuristic; log_error bounds the error of the panels. Each panel is made as wide as its share of the error allows.
bool SubsampledNodes::place_panels(const Range& range, double furthest) {
  std::vector<PanelDemand> demands;
  const double wanted = range.accuracy + 3;  // the panels share the error
  for (const PanelDemand demand : {PanelDemand{range.least_power - 0.5, 0.5, 0}, PanelDemand{range.largest_power + 0.5, 0.5, 0},
                                   PanelDemand{0, 0, 0}, PanelDemand{1, 0, 0}, PanelDemand{range.power, range.longest, 0}}) {
    demands.push_back({demand.power, demand.t, log_peak(demand.power) - wanted});
    if (sampling_ == SampledBy::fixed) demands.push_back({1 - demand.power, demand.t, log_peak(1 - demand.power) - wanted});
  }
  if (furthest > 0) demands.push_back({range.power, furthest, log_peak(range.power) - coarse_accuracy - 3});
  if (furthest > 0 && sampling_ == SampledBy::fixed)
    demands.push_back({1 - range.power, furthest, log_peak(1 - range.power) - coarse_accuracy - 3});
  if (base_.mu) {
    high_ = mu_;
    const auto enough = [&] {
      return std::all_of(demands.begin(), demands.end(), [&](const PanelDemand& d) { return log_tail(d.power) < d.level; });
    };
    while (!enough()) {
      high_ += std::max(0.5 * mu_, 0.02 * high_);
      if (!(high_ < 1e9)) return false;
    }
  }
  const auto fits = [&](const Panel& panel) {
    return std::all_of(demands.begin(), demands.end(),
                       [&](const PanelDemand& d) { return log_panel_error(panel, d.power, d.t) + log_scale_ < d.level; });
  };
  double x = low_, width = high_ - low_;
  while (x < high_) {
    double end = std::min(x + width, high_);
    Panel panel = make_panel(x, end);
    while (!fits(panel)) {
      width = 0.8 * (end - x);
      if (!(width > 1e-9 * (high_ - low_))) return false;
      panel = make_panel(x, end = x + width);
    }
    width = 1.5 * (end - x);
    x = end;
    panels_.push_back(std::move(panel));
    if (panels_.size() > most_panels) return false;
  }
  return true;
}

// A node at x of the base, with its mass, becomes one or two nodes of the sampled loss.
void SubsampledNodes::add_point(double x, double x_error, double log_weight, double weight_error) {
  const double loss = loss_at(x), drift = std::abs(std::expm1(-loss));  // |w - 1| / w
  const double share = 1 / (1 + (1 - rate_) / rate_ * std::exp(-x));    // l'(x)
  double error = 1.01 * share * x_error;
  if (x <= large_exponent)
    error += (9.1 * unit_roundoff + relative_rate_) * drift + 8.1 * unit_roundoff * std::abs(loss);
  else
    error += relative_rate_ + unit_roundoff * (4.1 * std::abs(std::log(rate_)) + 2.1 * (x + std::abs(loss)) + 1);
  error *= 1.05;
  add_node(loss, error, log_weight, weight_error);
  if (sampling_ == SampledBy::fixed)
    add_node(-loss, error, log_weight + loss, weight_error + error + 2 * unit_roundoff * (std::abs(log_weight) + loss));
}

void SubsampledNodes::add_node(double loss, double loss_error, double log_weight, double weight_error) {
  const double shift = middle_of(shift_), scaled = log_weight + std::log(middle_of(scale_));
  loss += shift;
  nodes_.loss.push_back(loss);
  nodes_.loss_error.push_back(loss_error + (shift > 0 ? unit_roundoff * std::abs(loss) + shift_.width() : 0));
  nodes_.loss_tail.push_back(exponential_tail(loss));
  nodes_.log_weight.push_back(scaled);
  nodes_.log_weight_error.push_back(weight_error + relative_width(scale_) +
                                    4 * unit_roundoff * (2 + std::abs(log_weight) + std::abs(scaled)));
  nodes_.weight.push_back(std::exp(scaled));
}

void SubsampledNodes::add_atom(double x, double x_error, Interval mass) {
  if (!(mass.hi > 0)) return;
  const std::size_t first = nodes_.loss.size();
  add_point(x, x_error, std::log(middle_of(mass)), relative_width(mass) + 8 * unit_roundoff);
  note_atoms(first);
}

/// The nodes from `first` on are atoms: their transform does not decay.
void SubsampledNodes::note_atoms(std::size_t first) {
  for (std::size_t j = first; j < nodes_.loss.size(); ++j)
    atoms_.push_back({nodes_.loss[j], nodes_.log_weight[j] + nodes_.log_weight_error[j] + bound_slack, nodes_.loss_error[j],
                      2 * (nodes_.log_weight_error[j] + bound_slack)});
}

// [subsampled-transform]
void SubsampledNodes::fill() {
  for (const Panel& panel : panels_)
    for_each_abscissa([&](double node, double weight) {
      const double x = panel.centre + panel.half * node;
      const double x_error = 4 * unit_roundoff * (std::abs(panel.centre) + panel.half) + width_ * std::abs(x);
      double density_error = 8 * unit_roundoff + width_ + 0.5 * x_error;
      if (base_.mu) {
        const double z = x / mu_ + 0.5 * mu_;
        density_error =
            8 * unit_roundoff + 4 * unit_roundoff * z * z + std::abs(z) / mu_ * x_error + relative_mu_ * (z * z + mu_ * std::abs(z) + 1);
      }
      add_point(x, x_error, std::log(panel.half * weight) + log_density(x), 1.1 * density_error);
    });
  if (!base_.mu) {
    if (sampling_ == SampledBy::poisson) add_atom(-largest_, width_ * largest_, base_.atom);
    add_atom(largest_, width_ * largest_, base_.atom * exp(-base_.largest));
  }
  const std::size_t first = nodes_.loss.size();
  if (sampling_ == SampledBy::fixed) {
    const Interval rate = rate_ * Interval{1 - relative_rate_, 1 + relative_rate_};
    const Interval mass = max((1.0 - rate) * neither(base_), Interval::exactly(0));
    if (mass.hi > 0) add_node(0, 0, std::log(middle_of(mass)), relative_width(mass) + 8 * unit_roundoff);
  } else if (base_.missing.hi > 0) {
    const double loss = std::log1p(-rate_);
    add_node(loss, 9 * unit_roundoff * std::abs(loss) + relative_rate_ * rate_ / (1 - rate_), std::log(middle_of(base_.missing)),
             relative_width(base_.missing) + 8 * unit_roundoff);
  }
  note_atoms(first);
  sort_by_loss();
}

Interval neither(const SampledBase& base) {
  if (base.mu) return normal_cdf(*base.mu / 2.0) - normal_cdf(-*base.mu / 2.0);
  const Interval above = base.atom * exp(-base.largest) - 2.0 * base.coefficient * expm1(-base.largest / 2.0);
  return 1.0 - 2.0 * above;
}

double SubsampledNodes::log_atoms(double power) const {
  double sum = -infinity;
  for (const AtomMass& atom : atoms_)
    sum = log_sum(sum, atom.log_mass + power * atom.loss + bound_relative_slack * std::abs(power * atom.loss));
  return sum;
}

std::vector<SubsampledNodes::TiltedAtom> SubsampledNodes::tilted_atoms(double power, double log_moment) const {
  std::vector<TiltedAtom> tilted;
  for (const AtomMass& atom : atoms_) {
    const double exponent = power * atom.loss, margin = bound_relative_slack * std::abs(exponent) + std::abs(power) * atom.loss_error;
    tilted.push_back({std::exp(atom.log_mass + exponent + margin - log_moment), atom.loss, atom.loss_error, atom.doubt + 2 * margin});
  }
  return tilted;
}

// [subsampled-transform] Beyond the panels of a Gaussian base: log f is at most that with w(high) e^(x - high) for w, whose peak is known.
double SubsampledNodes::log_value_beyond(double power) const {
  const double x = std::max(high_, mu_ * mu_ * (power - 0.5)), density = log_density(x), loss = loss_at(high_);
  const double tilt = (power + 1) * (power > -1 ? loss + (x - high_) : loss);
  return density - x - std::log(rate_) + tilt + bound_relative_slack * (std::abs(tilt) + std::abs(density) + std::abs(x));
}

// [subsampled-transform] log f = log density - x - log rate + (p + 1) l. For a Laplace base its derivative -3/2 + (p + 1) l'(x) has at most
// one zero, where it changes from negative to positive, so the maximum is at an end. For a Gaussian base f has at most two maxima.
double SubsampledNodes::log_one_variation(double power) const {
  const auto log_value = [&](double x) {
    const double tilt = (power + 1) * loss_at(x), density = log_density(x);
    return density - x - std::log(rate_) + tilt + bound_relative_slack * (std::abs(tilt) + std::abs(density) + std::abs(x));
  };
  if (!base_.mu) return std::log(2.0) + log_sum(log_value(low_), log_value(high_)) + bound_slack;
  const double curvature = 1 / (mu_ * mu_) + std::max(0.0, -(power + 1)) / 4;
  constexpr int cells = 8;  // cells per panel
  double largest = std::max(log_value(low_), log_value_beyond(power));
  for (const Panel& panel : panels_) {
    const double cell = 2 * panel.half / cells, excess = curvature * cell * cell / 8 * (1 + 1e-6);
    for (int i = 0; i <= cells; ++i) largest = std::max(largest, log_value(panel.centre - panel.half + i * cell) + excess);
  }
  const double maxima = (power + 1) * mu_ * mu_ <= 4 * (1 - 1e-9) ? 1 : 2;
  return std::log(2 * maxima) + largest + bound_slack;
}

// Under fixed-size sampling the two halves have the same value at 0, so there is no jump.
double SubsampledNodes::log_variation(double power) const {
  double bound = log_one_variation(power);
  if (sampling_ == SampledBy::fixed) {
    bound = log_sum(bound, log_one_variation(1 - power));
    const double jumps = std::log(2.0) + log_density(0) - std::log(rate_) - bound_slack - bound;
    if (jumps < 0) bound += std::log1p(-std::exp(jumps)) + bound_slack;
  }
  return bound + log_scale_ + power * (power >= 0 ? shift_.hi : shift_.lo);
}

}  // namespace tradeoff::detail
