// SPDX-License-Identifier: Apache-2.0
#include "transform/gaussian_nodes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/lane_loops.h"

namespace tradeoff::detail {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

/// An upper bound of the logarithm of the mean of exp(g y) over [0, 1]: a convex exponent that goes from 0 to g lies below this line.
double log_chord(double g) {
  if (g < -30) return -std::log(-g);
  return std::abs(g) < 1e-3 ? 0.5 * g + 1e-6 : g > 30 ? g - std::log(g) : std::log(std::expm1(g) / g);
}

/// The largest number of at most ten bits below x: its multiples and their squares are exact.
double ten_bits(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(fraction * 1024), exponent - 10);
}

}  // namespace

GaussianNodes::GaussianNodes(Interval mu, Interval rate, const Range& range)
    : mu_(0.5 * (mu.lo + mu.hi)),
      rate_(0.5 * (rate.lo + rate.hi)),
      relative_mu_((mu.hi - mu.lo) / mu.lo + unit_roundoff),
      relative_rate_((rate.hi - rate.lo) / rate.lo + unit_roundoff),
      negative_powers_(range.least_power < 0.5) {
  step_ = ten_bits(choose_step(range) * range.shrink);
  double left = 0, right = 0;
  if (!choose_range(range, left, right)) return;
  fill(std::llround(std::floor(left / step_)), std::llround(std::ceil(right / step_)));
  if (range.rough) heights_.clear();
}

// For searches only. The integrand is analytic up to |Im z| = pi/mu; for the Gaussian alone Im z = 2 pi/h would be best. At the longest t
// the argument of w adds to the exponent; a scan over z finds by how much, relative to the moment.
double GaussianNodes::choose_step(const Range& range) {
  const double wanted = range.accuracy + 6;  // the bounds over cells lose this much
  const double furthest = std::min(std::numbers::pi / mu_, 1.1 * std::sqrt(2 * wanted));
  const double spread = std::sqrt(2 * range.accuracy), shift = range.power * mu_, rest = 1 - rate_;
  struct Sample {
    double half_square, ratio, loss;
  };
  std::vector<Sample> samples;  // points where the tilted weight matters
  double level = -infinity;
  constexpr double far = 60;  // with a larger tilt nearly all mass is near one end, so it suffices to look there
  const double first = std::max(std::min(0.0, shift), -far) - spread, last = std::max(0.0, shift) + spread;
  for (double z = first; range.longest > 0 && z < last; z += 0.5) {
    if (z > far + spread && z < shift - spread) z = shift - spread;
    const double r = rate_ * std::exp(std::min(300.0, mu_ * (z - 0.5 * mu_)));
    samples.push_back({0.5 * z * z, r, std::log(rest + r)});
    level = std::max(level, range.power * samples.back().loss - 0.5 * z * z);
  }
  std::erase_if(samples, [&](const Sample& one) {  // removes points where the argument adds more than the weight lacks
    const double most_argument = std::min(std::numbers::pi, 2 * one.ratio / rest);
    return range.power * one.loss - one.half_square + range.longest * most_argument < level - range.accuracy - 8;
  });
  double best = 0;
  for (const double share : shares_) {
    const double height = share * furthest, cosine = std::cos(height * mu_), sine = std::sin(height * mu_);
    heights_.push_back(height);
    double largest = -infinity;
    for (const Sample& sample : samples) {
      const double r = sample.ratio, modulus = range.power >= 0 ? sample.loss : 0.5 * std::log(rest * rest + 2 * rest * r * cosine + r * r);
      largest = std::max(largest, range.power * modulus - sample.half_square + range.longest * std::atan2(r * sine, rest + r * cosine));
    }
    const double growth = range.longest > 0 ? largest - level + range.accuracy - 18 : 0;
    best = std::max(best, two_pi * height / (std::max(wanted, growth) + 0.5 * height * height));
  }
  return best;
}

double GaussianNodes::loss_at(double z) const {
  const double exponent = mu_ * (z - 0.5 * mu_);
  if (exponent <= large_exponent) return std::log1p(rate_ * std::expm1(exponent));
  return exponent + std::log(rate_) + std::log1p((1 - rate_) / rate_ * std::exp(-exponent));
}

// A heuristic; for every range log_error bounds the omitted part.
bool GaussianNodes::choose_range(const Range& range, double& left, double& right) const {
  std::array<double, 61> losses{};  // at z = -10, -9.5, ... 20
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = loss_at(0.5 * static_cast<double>(i) - 10);
  const auto peak = [&](double power) {
    double best = 0;
    const auto look = [&](double z, double loss) { best = std::max(best, -0.5 * z * z + power * loss); };
    for (std::size_t i = 0; i < losses.size(); ++i) look(0.5 * static_cast<double>(i) - 10, losses[i]);
    for (int i = 1; i <= 32; ++i)
      if (const double z = power * mu_ * i / 32; z < -10 || z > 20) look(z, loss_at(z));
    return best;
  };
  const double spread = std::sqrt(2 * range.accuracy), furthest = static_cast<double>(most_nodes) * step_;
  left = -spread;
  right = spread;
  for (const double power : {1.0, range.largest_power + 0.5, range.least_power - 0.5}) {
    const double target = peak(power) - range.accuracy;
    for (double more = 0.25; log_right_tail(power, right, loss_at(right)) > target; right += more *= 1.05)
      if (right > furthest) return false;
    for (double more = 0.25; log_left_tail(power, left, loss_at(left)) > target; left -= more *= 1.05)
      if (left < -furthest) return false;
  }
  return right - left < furthest;
}

void GaussianNodes::fill(std::int64_t first, std::int64_t last) {
  const auto count = static_cast<std::size_t>(last - first + 1);
  for (auto* column : {&nodes_.log_weight, &nodes_.log_weight_error, &nodes_.weight, &nodes_.loss, &nodes_.loss_error, &nodes_.loss_tail,
                       &position_, &share_, &end_loss_, &end_square_, &end_ratio_, &cell_cosh_})
    column->reserve(count);
  const double log_rate = std::log(rate_);
  const double odds = (1 - rate_) / rate_;
  const double log_step = std::log(step_) - log_root_two_pi;
  for (std::int64_t i = first; i <= last; ++i) {
    const double z = static_cast<double>(i) * step_;  // exact, and so is z^2
    const double exponent = mu_ * (z - 0.5 * mu_);    // two roundings
    const double share = 1 / (1 + odds * std::exp(-exponent));
    const double loss = loss_at(z);
    // [node-quadrature] Bounds the error of l_j: rounding of the exponent, of expm1 and log1p, and the width of the parameters.
    double error = share * (2.01 * unit_roundoff * std::abs(exponent) + relative_mu_ * std::abs(mu_ * (z - mu_)));
    if (exponent <= large_exponent) {
      const double drift = std::abs(std::expm1(-loss));  // |w - 1| / w
      error += (9.1 * unit_roundoff + relative_rate_) * drift + 8.1 * unit_roundoff * std::abs(loss);
    } else {
      error += relative_rate_ + unit_roundoff * (4.1 * std::abs(log_rate) + 2.1 * (std::abs(exponent) + std::abs(loss)) + 1);
    }
    const double log_weight = log_step - 0.5 * z * z;
    nodes_.log_weight.push_back(log_weight);
    nodes_.log_weight_error.push_back(unit_roundoff * (1.1 * std::abs(log_weight) + 6 * (1 + std::abs(log_step))));
    nodes_.weight.push_back(std::exp(log_weight));
    nodes_.loss.push_back(loss);
    nodes_.loss_error.push_back(1.05 * error);
    nodes_.loss_tail.push_back(exponential_tail(loss));
    position_.push_back(z);
    share_.push_back(share);
  }
  for (std::int64_t i = first; i <= last + 1; ++i) {  // the ends of the cells around the nodes
    const double z = (static_cast<double>(i) - 0.5) * step_;
    end_loss_.push_back(loss_at(z));
    end_square_.push_back(0.5 * z * z);
    end_ratio_.push_back(rate_ * std::exp(std::min(300.0, mu_ * (z - 0.5 * mu_))));
  }
  for (std::size_t j = 0; j + 1 < end_ratio_.size(); ++j) {  // the least cosh v, v = log(r/(1-q)), on each cell
    const double left = end_ratio_[j] / (1 - rate_), right = end_ratio_[j + 1] / (1 - rate_);
    const double nearest = right < 1 ? right : std::max(1.0, left);
    cell_cosh_.push_back(0.5 * (nearest + 1 / nearest) * (1 - 1e-9));
  }
  // Over all of hZ the sums of W and W w differ from 1 by at most 2 sum_m exp(-2 pi^2 m^2/h^2); beyond the nodes there are normal tails.
  const double lattice = 2.01 * std::exp(-0.5 * (two_pi / step_) * (two_pi / step_));
  const double ends = std::exp(log_tail_above(-position_.front())) + std::exp(log_tail_above(position_.back() - mu_));
  unit_error_ = lattice < 2e-3 && position_.back() > mu_ && position_.front() < 0 ? (lattice + ends) * (1 + 1e-6) : infinity;
}

GaussianNodes::Shift GaussianNodes::make_shift(double height) const {
  Shift shift;
  shift.height = height;
  const double theta = height * mu_;
  const double decay = two_pi * shift.height / step_;
  shift.log_factor = 0.5 * shift.height * shift.height - (decay > 30 ? decay : std::log(std::expm1(decay)));
  shift.log_length = std::log(2 * shift.height) - log_root_two_pi;
  shift.log_half_cosine = std::log(std::cos(0.5 * theta));
  shift.cosine = std::cos(theta);
  const double sine = std::sin(theta), cosine = shift.cosine, rest = 1 - rate_;
  shift.argument.reserve(end_ratio_.size());
  shift.curvature.reserve(cell_cosh_.size());
  for (const double r : end_ratio_) shift.argument.push_back(std::atan2(r * sine, rest + r * cosine) * (1 + bound_relative_slack));
  // |d^2 log w / dz^2| = mu^2 / (2 (cosh v + cos theta)), v = log(r/(1-q)).
  for (const double cosh : cell_cosh_) shift.curvature.push_back(mu_ * mu_ / (2 * (cosh + cosine)) * (1 + 1e-6) * step_ * step_ / 8);
  for (std::size_t j = 0; negative_powers_ && j < end_ratio_.size(); ++j) {
    const double r = end_ratio_[j];
    shift.modulus.push_back(r > 1e100 ? end_loss_[j] - 1e-9 : 0.5 * std::log(rest * rest + 2 * rest * r * cosine + r * r) - 1e-12);
  }
  return shift;
}

double GaussianNodes::log_left_tail(double power, double z, double loss) const {
  if (power >= 0) return power * loss + log_tail_above(-z);
  // l' <= mu, so w(x) >= w(z) e^(mu (x - z)) below z.
  const double by_slope = power * loss + 0.5 * power * power * mu_ * mu_ - power * mu_ * z + log_tail_above(power * mu_ - z);
  return std::min(power * std::log1p(-rate_) + log_tail_above(-z), by_slope);
}

// [node-quadrature] Right of z the slope of l is at most mu pi(end) up to any end, and mu beyond. So w(x)^p is below w(z)^p e^(p slope (x -
// z)) on each of a sequence of intervals, and each integral is a normal tail.
template <class Piece>
void GaussianNodes::for_each_right_piece(double power, double z, double loss, Piece&& piece) const {
  while (z < power * mu_) {
    const double end = std::max(2 * z, 1.0), exponent = mu_ * (end - 0.5 * mu_);
    const double slope = mu_ / (1 + (1 - rate_) / rate_ * std::exp(-exponent)) * (1 + 1e-9);
    piece(z, loss, slope);
    if (slope > 0.9 * mu_) break;
    z = end;
    loss = loss_at(z);
  }
  piece(z, loss, mu_);
}

double GaussianNodes::log_right_tail(double power, double z, double loss) const {
  if (power < 0) return power * loss + log_tail_above(z);
  double total = -infinity;
  for_each_right_piece(power, z, loss, [&](double start, double loss_there, double slope) {
    const double shift = power * slope;
    total = log_sum(total, power * loss_there + 0.5 * shift * shift - shift * start + log_tail_above(start - shift));
  });
  return total;
}

// [node-quadrature] One vertical side: 2 Int_0^a |F(z + iy)| e^(-2 pi y/h) dy. A convex function of y that is 0 at y = 0 bounds the
// exponent, and its chord bounds that function.
double GaussianNodes::log_side(double power, double t, std::size_t end, const Shift& shift) const {
  const double r = end_ratio_[end], rest = 1 - rate_, loss = end_loss_[end];
  double level = shift.log_length - end_square_[end] + power * loss;  // |w(z + iy)| <= w(z)
  double fall = 0.5 * shift.height * shift.height - two_pi * shift.height / step_;
  if (power < 0) {
    // -log |w| = -log(A + B cos theta)/2 is convex while A cos theta + B > 0; beyond that the least |w| of the side is used.
    const double squares = rest * rest + r * r, product = 2 * rest * r;
    if (squares * shift.cosine + product > 0) {
      fall -= power * (loss - 0.5 * std::log(squares + product * shift.cosine) + 1e-9);
    } else {
      const double between = std::abs(rest - r) * (1 - 1e-9) - 1e-12 * rest;
      level += power * std::max(shift.log_half_cosine, between > 0 ? std::log(between) - loss : -infinity);
    }
  }
  // arg w is concave in theta where r < 1 - q, with slope pi(z) at 0, and convex above: its tangent or its chord bounds it.
  const double theta = mu_ * shift.height;
  const double argument = r < rest ? r / (rest + r) * theta : std::atan2(r * std::sin(theta), rest + r * shift.cosine);
  double integral = log_chord(fall + t * argument * (1 + 1e-9));
  if (r < rest) integral = std::min(integral, t * std::asin(std::min(1.0, r / rest * (1 + 1e-9))) + log_chord(fall));
  return level + integral;
}

// [node-quadrature] On a cell the exponent -z^2/2 + p log|w| + t arg w exceeds the larger of its end values by at most h^2/8 times its
// largest downward curvature: 1 from the Gaussian, |d^2 log w / dz^2| from each of the others. For p >= 0, log|w(z + ia)| is replaced by
// the larger l(z), which is convex. The sum over the cells is bounded by its largest term times their number; that costs one or two units
// of the exponent and saves one exponential per cell.
double GaussianNodes::log_cells(double power, double t, std::size_t count, const Shift& shift) const {
  const double largest =
      numeric::largest_cell({power, t, (power < 0 ? -power : 0) + t, power >= 0 ? end_loss_.data() : shift.modulus.data(),
                             shift.argument.data(), end_square_.data(), shift.curvature.data(), count});
  return largest + std::log(2 * static_cast<double>(count) * step_) - log_root_two_pi + shift.log_factor + step_ * step_ / 8;
}

// [node-quadrature] The rectangle bound: two horizontal lines, two vertical sides, and the integral outside the nodes.
double GaussianNodes::log_error(double power, double t, const Sum& sum) const {
  if (power < 0 && !negative_powers_) return infinity;
  const std::size_t count = sum.count;
  const double left = position_.front() - 0.5 * step_, right = position_[count - 1] + 0.5 * step_;
  const double loss_left = end_loss_.front(), loss_right = end_loss_[count];
  double best = infinity;
  for (std::size_t k = 0; k < heights_.size(); ++k) {
    std::call_once(made_[k], [&] { shifts_[k] = make_shift(heights_[k]); });
    const Shift& shift = shifts_[k];
    const double cells = log_cells(power, t, count, shift);
    if (cells >= best) continue;
    const double sides = log_sum(log_side(power, t, 0, shift), log_side(power, t, count, shift));
    const double bound = log_sum(sides, cells);
    if (bound < best) best = bound;
    if (best < sum.enough) break;
  }
  double outside = log_left_tail(power, left, loss_left);
  if (sum.tail) outside = log_sum(outside, log_right_tail(power, right, loss_right));
  const double scale = std::abs(power) * std::max(std::abs(loss_left), std::abs(loss_right)) + 0.5 * std::max(left * left, right * right);
  return log_sum(best, outside) + bound_slack + bound_relative_slack * scale;
}

double GaussianNodes::log_mass_below(double power, std::size_t j) const {
  return log_left_tail(power, position_[j], nodes_.loss[j]) + std::abs(power) * nodes_.loss_error[j] + bound_slack;
}

double GaussianNodes::log_density(double power, std::size_t j) const {
  return power * nodes_.loss[j] - 0.5 * position_[j] * position_[j] - log_root_two_pi - std::log(mu_ * share_[j]) +
         std::abs(power) * nodes_.loss_error[j] + bound_slack;
}

double GaussianNodes::log_density_right(double power) const {
  const double last = position_.back(), level = -log_root_two_pi - std::log(mu_ * share_.back()) + bound_slack;
  if (power < 0) return power * nodes_.loss.back() - 0.5 * last * last + level;
  double largest = -infinity;
  for_each_right_piece(power, last, nodes_.loss.back(), [&](double start, double loss_there, double slope) {
    const double shift = power * slope, distance = std::max(0.0, start - shift);
    largest = std::max(largest, power * loss_there + 0.5 * shift * shift - shift * start - 0.5 * distance * distance);
  });
  return largest + level;
}

// Left of the nodes 1/pi = 1 + (1-q)/q e^(mu^2/2 - mu z) increases: the two terms are normal densities, one of them around -mu.
double GaussianNodes::log_density_left(double power) const {
  const double z = position_.front();
  const double level = power >= 0 ? power * nodes_.loss.front() : power * std::log1p(-rate_);
  const double shifted = std::min(z + mu_, 0.0);
  const double second = std::log((1 - rate_) / rate_) + mu_ * mu_ - 0.5 * shifted * shifted;
  return level + log_sum(-0.5 * z * z, second) - log_root_two_pi - std::log(mu_) + bound_slack;
}

double GaussianNodes::log_density_excess(double power) const {
  const double curvature = 1 + std::max(0.0, -(power + 1)) * mu_ * mu_ / 4;
  return curvature * step_ * step_ / 8 * (1 + 1e-9);
}

int GaussianNodes::maxima(double power) const { return (power + 1) * mu_ * mu_ <= 4 * (1 - 1e-9) ? 1 : 2; }

std::size_t GaussianNodes::resolved(double t, double phase) const {
  const double limit = phase / (t * mu_ * step_);
  return static_cast<std::size_t>(std::lower_bound(share_.begin(), share_.end(), limit) - share_.begin());
}

}  // namespace tradeoff::detail
