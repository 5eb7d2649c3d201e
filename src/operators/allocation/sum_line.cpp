// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/sum_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "numeric/sum.h"
#include "transform/characteristic_function.h"
#include "transform/nodes.h"

// [allocation-contour]
namespace tradeoff::detail::allocation {
namespace {

constexpr std::size_t rough_points = 320;
constexpr std::array<double, 7> sums_of_half_axes{1.6, 2.2, 3.0, 4.2, 6.0, 10.0, 20.0};  // of Bernstein's ellipses, relative to the panel
constexpr std::size_t most_panels = 400;
constexpr double most_node_points = 1.5e7;  // nodes times points: some hundredths of a second
constexpr int most_strides = 10'000;
constexpr double far_share = 0.01;  // beyond the nodes phi is needed to this part of 1 - |phi|
constexpr std::size_t block_nodes = 64, block_lanes = 8;
constexpr double safe = 1 + 1e-9;  // covers the rounding of bounds

}  // namespace

double SumShape::value(double x) const {
  const double half = s * s / 2;
  if (kappa == 0) return falling ? -std::expm1(s * x - half) : std::expm1(s * x - half);
  return std::exp(s * x - half) - kappa * std::exp(-s * x - half);
}

double SumShape::spread(double x) const {
  const double half = s * s / 2;
  return std::exp(s * x - half) + (kappa == 0 ? 0 : kappa * std::exp(-s * x - half));
}

// The argument of the exponentials has an absolute error of 2u(|s x| + s^2/2); libm adds 8u of expm1, or 4u of each exponential.
double SumShape::value_error(double x, double x_error) const {
  const double argument = 2.2 * unit_roundoff * (std::abs(s * x) + s * s / 2) + s * x_error;
  return safe * spread(x) * (argument + (kappa == 0 ? 0 : 8 * unit_roundoff)) + 10 * unit_roundoff * std::abs(value(x));
}

RoughSum::RoughSum(const std::vector<SumFactor>& factors) {
  for (const auto& [shape, range, times] : factors) {
    Law& law = laws_.emplace_back();
    law.times = times;
    const double h = (range.right - range.left) / static_cast<double>(rough_points - 1);
    for (std::size_t i = 0; i < rough_points; ++i) {
      const double x = range.left + h * static_cast<double>(i);
      law.value.push_back(shape.value(x));
      law.log_weight.push_back(std::log(h) - x * x / 2 - log_root_two_pi - (i == 0 || i + 1 == rough_points ? std::numbers::ln2 : 0));
    }
    if (!range.capped) continue;
    law.value.push_back(shape.value(range.right));
    law.log_weight.push_back(log_tail_above(range.right));
  }
}

RoughSum::Moment RoughSum::Law::moment(double c) const {
  double top = -infinity;
  for (std::size_t i = 0; i < value.size(); ++i) top = std::max(top, c * value[i] + log_weight[i]);
  double sum = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double mass = std::exp(c * value[i] + log_weight[i] - top);
    sum += mass, first += mass * value[i], second += mass * value[i] * value[i];
  }
  const double mean = first / sum;
  return {top + std::log(sum), mean, std::max(0.0, second / sum - mean * mean)};
}

RoughSum::Moment RoughSum::moment(double c) const {
  Moment sum;
  for (const Law& law : laws_) {
    const Moment one = law.moment(c);
    sum.log += law.times * one.log, sum.mean += law.times * one.mean, sum.variance += law.times * one.variance;
  }
  return sum;
}

RoughSum::Saddle RoughSum::saddle(double strike) const {
  const auto rises = [&](double c) { return moment(c).mean - strike - 2 / c > 0; };
  const double c = numeric::bisect_ratio(rises, {0x1p-40, 0x1p40}, 34).before;
  const Moment at = moment(c);
  const double bend = at.variance + 2 / (c * c);
  return {c, at.log - c * strike - 2 * std::log(c) - 0.5 * std::log(2 * std::numbers::pi * bend)};
}

double RoughSum::log_modulus(double c, double t) const {
  const Law& law = laws_.front();
  double top = -infinity;
  for (std::size_t i = 0; i < law.value.size(); ++i) top = std::max(top, c * law.value[i] + law.log_weight[i]);
  double sum = 0, real = 0, imaginary = 0;
  for (std::size_t i = 0; i < law.value.size(); ++i) {
    const double exponent = c * law.value[i] + law.log_weight[i] - top;
    if (exponent < -40) continue;
    const double mass = std::exp(exponent), angle = t * law.value[i];
    sum += mass, real += mass * std::cos(angle), imaginary += mass * std::sin(angle);
  }
  return std::log(std::hypot(real, imaginary) / sum);
}

TiltedSummand::TiltedSummand(const SumFactor& factor, double c, const std::vector<Demand>& demands)
    : shape_(factor.shape), range_(factor.range), c_(c) {
  const double log_moment = RoughSum({factor}).log_moment_of(0, c);
  if (!place_panels(log_moment, demands)) return;
  add_points();
  tilt_points();
  known_ = log_moment_.hi < infinity;
}

/// The logarithm of a bound of the error of the rule of 32 points on a panel, for the moment at c + it. On the ellipse |x - centre| <= half
/// a and |Im x| <= half b, so |X - X(centre)| <= spread(centre) (exp(s half a) - 1).
double TiltedSummand::log_panel_error(const Panel& panel, double c, double t) const {
  const double size = std::hypot(c, t) * shape_.spread(panel.centre), x = std::abs(panel.centre);
  const double level = c * shape_.value(panel.centre) - x * x / 2 - log_root_two_pi + std::log(4.3 * panel.half);
  double best = infinity;
  for (const double sum : sums_of_half_axes) {
    const double wide = panel.half * (sum + 1 / sum) / 2, high = panel.half * (sum - 1 / sum) / 2;
    const double growth = size * std::expm1(shape_.s * wide) + x * wide + high * high / 2;
    best = std::min(best, growth - std::log1p(-1 / (sum * sum)) - 64 * std::log(sum));
  }
  return level + best + 1e-9 * (std::abs(level) + std::abs(best)) + 1e-6;
}

/// The logarithm of a bound of the moment of what is not evaluated.
double TiltedSummand::log_missing(double c) const {
  const double left = range_.cut_left ? -infinity : log_tail_above(-range_.left) + (shape_.falling ? c : c * shape_.value(range_.left));
  const double right = shape_.falling ? log_tail_above(range_.right) + c * shape_.value(range_.right) : -infinity;
  return log_sum(left, right) + 1e-6 + 1e-9 * std::abs(c);
}

/// A heuristic; quadrature_error bounds the error.
bool TiltedSummand::place_panels(double log_moment, const std::vector<Demand>& demands) {
  const auto fits = [&](const Panel& panel) {
    const double x = panel.centre, c = c_;
    const auto height = [&](double at) { return c * shape_.value(at) - at * at / 2 - log_root_two_pi; };
    const double mass = std::max({height(x - panel.half), height(x), height(x + panel.half)}) + std::log(2 * panel.half) - log_moment;
    return std::all_of(demands.begin(), demands.end(), [&](const Demand& demand) {
      return (&demand != &demands.front() && mass <= demand.log_error - 1) ||
             log_panel_error(panel, c, demand.t) <= log_moment + demand.log_error;
    });
  };
  double x = range_.left, width = 1;
  while (x < range_.right) {
    double end = std::min(x + width, range_.right);
    Panel panel{x + (end - x) / 2, (end - x) / 2};
    while (!fits(panel)) {
      width = 0.8 * (end - x);
      if (!(width > 1e-6)) return false;
      end = x + width;
      panel = {x + (end - x) / 2, (end - x) / 2};
    }
    width = 1.4 * (end - x);
    x = end;
    panels_.push_back(panel);
    if (panels_.size() > most_panels) return false;
  }
  return true;
}

/// The ends of the panels are doubles; centre and half length are rounded once each.
void TiltedSummand::add_points() {
  const auto add = [&](double x, double x_error, double log_weight, double weight_error) {
    x_.push_back(x);
    value_.push_back(shape_.value(x));
    value_error_.push_back(shape_.value_error(x, x_error));
    log_weight_.push_back(log_weight);
    weight_error_.push_back(weight_error);
  };
  for (const Panel& panel : panels_)
    for_each_abscissa([&](double node, double weight) {
      const double x = panel.centre + panel.half * node, square = x * x / 2, share = std::log(panel.half * weight);
      const double x_error = 4 * unit_roundoff * (std::abs(panel.centre) + panel.half);
      const double log_weight = share - square - log_root_two_pi;
      const double weight_error =
          (12 + 4 * std::abs(share) + 4 * square + 2 * std::abs(log_weight)) * unit_roundoff + std::abs(x) * x_error;
      add(x, x_error, log_weight, safe * weight_error);
    });
  if (!range_.capped) return;
  const Interval log_atom = log_normal_cdf(-range_.right);
  add(range_.right, 0, middle_of(log_atom), log_atom.hi - log_atom.lo);
}

void TiltedSummand::tilt_points() {
  const std::size_t count = x_.size();
  std::vector<double> exponent(count), error(count);
  double top = -infinity;
  for (std::size_t j = 0; j < count; ++j) {
    exponent[j] = c_ * value_[j] + log_weight_[j];
    top = std::max(top, exponent[j]);
  }
  numeric::CompensatedSum sum;
  double doubt = 0;
  for (std::size_t j = 0; j < count; ++j) {
    error[j] = safe * (weight_error_[j] + c_ * value_error_[j] +
                       unit_roundoff * (2 * std::abs(c_ * value_[j]) + 2 * std::abs(exponent[j]) + std::abs(top) + 8));
    tilted_.push_back(std::exp(exponent[j] - top));
    sum.add(tilted_[j]);
    doubt += tilted_[j] * error[j];
  }
  const Interval total = sum.enclosure();
  const double scale = middle_of(total);
  doubt = safe * doubt / scale;
  for (double& mass : tilted_) mass /= scale;
  log_moment_ = Interval::exactly(top) + log(total);
  const double missing = std::exp(log_missing(c_) - log_moment_.lo), at_rest = quadrature_error(0) + missing;
  for (std::size_t j = 0, i = 0; i < panels_.size(); ++i, j += 32) {  // the integral is its sum at t = 0, up to the errors
    double mass = 0;
    for (std::size_t k = j; k < j + 32; ++k) mass += tilted_[k];
    panels_[i].mass = 2 * safe * mass + at_rest + 2 * doubt;
  }
  const double relative = safe * (doubt + at_rest);
  log_moment_ = relative < 0.1 ? log_moment_ + Interval{-2 * relative, 2 * relative} : Interval{-infinity, infinity};
  constant_error_ = safe * (at_rest + missing);
  centre_points(error, doubt, at_rest);
  find_strides();
  while (tilted_.size() % oscillation_lanes != 0) tilted_.push_back(0), centred_.push_back(0);
}

/// The centre near the mean, and the errors of the second-order remainder of phi.
void TiltedSummand::centre_points(const std::vector<double>& error, double doubt, double at_rest) {
  const std::size_t count = x_.size();
  for (std::size_t j = 0; j < count; ++j) mean_ += tilted_[j] * value_[j];
  numeric::CompensatedSum rest;
  const double sums = (oscillation_units + static_cast<double>(count / oscillation_lanes) + 16) * unit_roundoff;
  double linear = 0, quadratic = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double d = value_[j] - mean_, size = std::abs(d), place = value_error_[j] + 1.1 * unit_roundoff * size;
    const double relative = error[j] + doubt + at_rest + 4 * unit_roundoff;
    centred_.push_back(d);
    rest.add(tilted_[j] * d);
    linear += tilted_[j] * ((relative + 2 * unit_roundoff) * size + place);
    quadratic += tilted_[j] * ((0.5 * relative + sums) * size * size + (2 * size + place) * place);
    if (tilted_[j] > 0) reach_ = std::max(reach_, size);
  }
  const Interval left_over = rest.enclosure();
  linear_error_ = safe * (linear + std::max(std::abs(left_over.lo), std::abs(left_over.hi)));
  quadratic_error_ = safe * quadratic;
}

/// The points up to each panel's end: how fast phi can change, and the rest.
void TiltedSummand::find_strides() {
  const std::size_t count = x_.size();
  double mass = 0, first = 0;
  for (std::size_t j = 0; j < count; ++j) {
    mass += tilted_[j], first += tilted_[j] * centred_[j];
    if ((j + 1) % 32 != 0 && j + 1 != count) continue;
    const double middle = mass > 0 ? first / mass : 0;
    double deviation = 0, beyond = 0;
    for (std::size_t k = 0; k < count; ++k) (k <= j ? deviation : beyond) += tilted_[k] * (k <= j ? std::abs(centred_[k] - middle) : 1);
    strides_.push_back({safe * deviation, safe * beyond});
  }
}

double TiltedSummand::quadrature_error(double t) const {
  double sum = 0;
  for (const Panel& panel : panels_) sum += std::min(panel.mass, std::exp(log_panel_error(panel, c_, t) - log_moment_.lo));
  return safe * sum;
}

double TiltedSummand::log_moment_above(double order) const {
  double top = -infinity;
  for (std::size_t j = 0; j < x_.size(); ++j)
    top = std::max(top, order * (value_[j] + value_error_[j]) + log_weight_[j] + weight_error_[j]);
  double sum = 0, quadrature = log_missing(order);
  for (std::size_t j = 0; j < x_.size(); ++j)
    sum += std::exp(order * (value_[j] + value_error_[j]) + log_weight_[j] + weight_error_[j] - top);
  for (const Panel& panel : panels_) quadrature = log_sum(quadrature, log_panel_error(panel, order, 0));
  const double log_total = log_sum(top + std::log(sum), quadrature);
  return log_total + 1e-13 * (8 + std::abs(order * reach_) + std::abs(top) + std::abs(log_total));
}

/// A bound of the variation of the tilted density of X, its jumps at both ends included. On a cell where the logarithm of the density rises
/// or falls throughout it is the difference of the ends.
double TiltedSummand::variation() const {
  const double c = c_, s = shape_.s, sign = shape_.falling ? -1 : 1;
  const auto log_density = [&](double x) {
    return c * shape_.value(x) - x * x / 2 - log_root_two_pi - std::log(s * shape_.spread(x)) - log_moment_.lo;
  };
  const auto share = [&](double x) { return shape_.kappa == 0 ? 1.0 : shape_.value(x) / shape_.spread(x); };
  double x = range_.left, here = std::exp(log_density(x)), total = here;
  while (x < range_.right) {
    const double steep = c * s * shape_.spread(x) + std::abs(x) + s, h = std::min({0.2 / steep, 0.1, range_.right - x});
    const double end = h < range_.right - x ? x + h : range_.right, next = std::exp(log_density(end));
    const double wide = std::max(shape_.spread(x), shape_.spread(end)), narrow = wide * std::exp(-1.001 * s * h);
    const double pull_high = sign * c * s * (sign > 0 ? wide : narrow), pull_low = sign * c * s * (sign > 0 ? narrow : wide);
    const double high = pull_high - x - s * share(x), low = pull_low - end - s * share(end);
    const double slack = 1e-9 * (std::abs(pull_high) + std::abs(end) + s + 1);
    if (low > slack || high < -slack)
      total += std::abs(next - here);
    else
      total += 1.001 * h * std::max(here, next) * std::exp(1.001 * h * (std::abs(low) + std::abs(high))) *
               (std::max(std::abs(low), std::abs(high)) + slack);
    x = end, here = next;
  }
  return (total + here) * (1 + 1e-6);
}

bool TiltedSummand::reaches(double t) const { return t * reach_ < oscillation_limit; }

TiltedSummand::Value TiltedSummand::at(double t) const {
  if (!reaches(t)) return {0, 0, 2};
  const OscillationSum sum = sum_oscillations(tilted_.data(), centred_.data(), tilted_.size(), t);
  return {sum.cosine, sum.sine, (quadratic_error_ * t + linear_error_) * t + constant_error_};
}

double TiltedSummand::atoms() const {
  if (!range_.capped) return constant_error_;
  const double exponent = c_ * (value_.back() + value_error_.back()) + log_weight_.back() + weight_error_.back() - log_moment_.lo;
  return constant_error_ + safe * std::exp(exponent);
}

double TiltedSummand::doubt(double t) const {
  return 2 * ((quadratic_error_ * t + linear_error_) * t + constant_error_) + 1e-15 + quadrature_error(t);
}

/// |phi(t + d)| - |phi(t)| <= d E|X - middle; up to a point| + 2 P(beyond): the longest d with room for it.
double TiltedSummand::longest_stride(double room) const {
  double best = 0;
  for (const Stride& stride : strides_)
    if (room > 2 * stride.beyond) best = std::max(best, (room - 2 * stride.beyond) / stride.deviation);
  return best;
}

namespace {

/// The demands on phi of the first factor: beyond the nodes, up to the point where the bound by its variation begins.
std::vector<TiltedSummand::Demand> demands_of(const SumFactor& factor, const SumLine::Setting& setting) {
  std::vector<TiltedSummand::Demand> demands{{setting.longest, -setting.accuracy - 3}};
  const RoughSum rough({factor});
  // About the variation: twice the largest density.
  double largest = 0;
  const double log_moment = rough.log_moment_of(0, setting.c);
  for (int i = 0; i <= 400; ++i) {
    const double x = factor.range.left + (factor.range.right - factor.range.left) * i / 400;
    const double exponent = setting.c * factor.shape.value(x) - x * x / 2 - log_moment;
    largest = std::max(largest, 0.4 * std::exp(exponent) / (factor.shape.s * factor.shape.spread(x)));
  }
  const double end = 8 * largest;
  for (double t = setting.longest; t < end;) {
    const double room = std::min(0.5, -std::expm1(rough.log_modulus(setting.c, t)));
    demands.push_back({t = std::min(2 * t, end), std::log(far_share * room)});
  }
  return demands;
}

}  // namespace

SumLine::SumLine(const std::vector<SumFactor>& factors, const Setting& setting) : setting_(setting) {
  log_moment_ = mean_ = Interval::exactly(0);
  for (const SumFactor& factor : factors) {
    if (factor.times == 0) continue;
    const bool first = laws_.empty();
    const TiltedSummand& law = laws_.emplace_back(
        factor, setting.c,
        first ? demands_of(factor, setting) : std::vector<TiltedSummand::Demand>{{setting.longest, -setting.accuracy - 3}});
    if (!law.known()) return;
    const Interval times = Interval::exactly(factor.times);
    times_.push_back(factor.times);
    log_moment_ = log_moment_ + times * law.log_moment();
    mean_ = mean_ + times * Interval::exactly(law.mean());
    left_moment_ += factor.times * law.log_moment_above(setting.left_order);
    right_moment_ += factor.times * law.log_moment_above(setting.right_order);
  }
  for (double* moment : {&left_moment_, &right_moment_}) *moment = numeric::up_by(*moment, 8);
  if (!(left_moment_ < infinity && right_moment_ < infinity && log_moment_.hi < infinity)) return;
  if (!add_nodes(setting.longest)) return;
  march();
  if (known_) weigh_nodes();
}

bool SumLine::add_nodes(double longest) {
  const double count = std::ceil(longest / setting_.step), last = count * setting_.step;
  double points = 0;
  for (const TiltedSummand& law : laws_) points += static_cast<double>(law.size());
  if (!(count >= 1 && count * points <= most_node_points)) return false;
  std::vector<double> quadrature;
  for (const TiltedSummand& law : laws_) {
    if (!law.reaches(last)) return false;
    quadrature.push_back(law.quadrature_error(last));
    work_ += count * static_cast<double>(law.size()) * 2e-3;
  }
  for (std::size_t n = 1; n <= static_cast<std::size_t>(count); ++n) {
    const double t = setting_.step * static_cast<double>(n);
    Node node{t, 0, 0, 0, 0};
    double log_modulus = 0;
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      const auto [cosine, sine, error] = laws_[i].at(t);
      const double square = cosine * cosine + sine * sine, log_size = 0.5 * std::log1p(2 * cosine + square), size = std::exp(log_size);
      const double angle = std::atan2(sine, 1 + cosine);
      // The sums 2C + C^2 + S^2 and 1 + C lose a few roundings of themselves.
      const double rounding =
          unit_roundoff * (16 * std::abs(log_size) + 16 * std::abs(angle) + 12 * (std::abs(cosine) + square) / (size * size));
      if (!(size > 0)) return false;
      log_modulus += times_[i] * log_size;
      node.argument += times_[i] * angle;
      node.growth += times_[i] * (std::log1p((error + quadrature[i]) / size) + rounding);
      node.turns += times_[i] * (std::abs(log_size) + std::abs(angle));
    }
    node.modulus = std::exp(log_modulus);
    node.growth = std::expm1(node.growth);
    nodes_.push_back(node);
  }
  return true;
}

/// From the last node on |phi| of the first factor is at most `level`: by strides, and from the point on where its variation over t is
/// small enough. [allocation-contour]
void SumLine::march() {
  const TiltedSummand& law = laws_.front();
  const double start = nodes_.back().t, times = times_.front();
  const auto modulus = [&](double t) {
    const auto [cosine, sine, error] = law.at(t);
    return std::hypot(1 + cosine, sine) * (1 + 4 * unit_roundoff) + error;
  };
  const double decay = -times * std::log(modulus(start) + law.quadrature_error(start));
  if (!(decay > 1)) return;
  const double need = 0.8 * decay, level = std::exp(-need / times), room = level - law.atoms();
  if (!(room > 0)) return;
  const double end = law.variation() / room * safe;
  double t = start, horizon = start, doubt = 0;  // the difference of phi and its points up to the horizon
  int strides = 0;
  for (; t < end && strides < most_strides; ++strides) {
    if (!(t < 0.999 * horizon)) {
      horizon = 2 * t;
      doubt = law.doubt(horizon);
    }
    if (!law.reaches(horizon)) return;
    const double stride = law.longest_stride((level - modulus(t) - doubt) * (1 - 1e-9)) * (1 - 1e-9);
    if (!(stride > 1e-9 * t)) return;
    t = std::min(t + stride, horizon);
  }
  work_ += strides * static_cast<double>(law.size()) * 2e-3;
  if (t < end) return;
  truncation_ = 2 * std::exp(-need) / (setting_.step * start) * safe;
  known_ = true;
}

/// What all strikes share: each node is K e^{i t d}, d the distance of the mean from the strike, and K = 2 phi / z^2.
void SumLine::weigh_nodes() {
  const double c = setting_.c;
  size_ = 1 / (c * c);
  for (const Node& node : nodes_) {
    const double t = node.t, q = c * c + t * t, weight = 2 * node.modulus / q;
    const double real = (c - t) * (c + t) / q, imaginary = 2 * c * t / q, cosine = std::cos(node.argument), sine = std::sin(node.argument);
    real_.push_back(weight * (cosine * real + sine * imaginary));
    imaginary_.push_back(weight * (sine * real - cosine * imaginary));
    size_ += weight;
    turned_ += weight * t;
    // 30 roundings of the weight, the kernel and its turn; 40 of the turns by blocks.
    node_error_ += weight * (node.growth + unit_roundoff * (8 * node.turns + 4 * std::abs(node.argument) + 70));
  }
  while (real_.size() % block_nodes != 0) real_.push_back(0), imaginary_.push_back(0);
}

// The trapezoidal rule is the sum over all j of e^{c j W} times the excess over the strike + j W, W = 2 pi / step: all terms are
// non-negative. The nodes are even, so a block of them is turned by one table and by the turn of its first node.
Interval SumLine::at(Interval strike) const {
  if (!known_) return {0, infinity};
  const double c = setting_.c;
  const Interval drift = mean_ - strike;
  const double turn = middle_of(drift), turn_error = drift.hi - drift.lo;
  std::array<double, block_nodes> cosine{}, sine{};
  for (std::size_t k = 0; k < block_nodes; ++k) {
    const double angle = setting_.step * static_cast<double>(k) * turn;
    cosine[k] = std::cos(angle), sine[k] = std::sin(angle);
  }
  double sum = 1 / (c * c);
  for (std::size_t from = 0; from < real_.size(); from += block_nodes) {
    std::array<double, block_lanes> real{}, imaginary{};
    for (std::size_t k = 0; k < block_nodes; k += block_lanes)
      for (std::size_t j = 0; j < block_lanes; ++j) {
        const double x = real_[from + k + j], y = imaginary_[from + k + j];
        real[j] += x * cosine[k + j] - y * sine[k + j];
        imaginary[j] += x * sine[k + j] + y * cosine[k + j];
      }
    double block_real = 0, block_imaginary = 0;
    for (std::size_t j = 0; j < block_lanes; ++j) block_real += real[j], block_imaginary += imaginary[j];
    const double angle = setting_.step * static_cast<double>(from + 1) * turn;
    sum += block_real * std::cos(angle) - block_imaginary * std::sin(angle);
  }
  const double angles = turned_ * (turn_error + 8 * unit_roundoff * std::abs(turn));
  const double error = safe * (node_error_ + angles + unit_roundoff * size_ * (static_cast<double>(nodes_.size()) + 8) + truncation_);
  const Interval base = log_moment_ - Interval::exactly(c) * strike;
  const Interval pi{std::numbers::pi * (1 - 2 * unit_roundoff), std::numbers::pi * (1 + 2 * unit_roundoff)};
  const Interval window = 2.0 * pi / Interval::exactly(setting_.step), scale = exp(base) / window;
  Interval copies = Interval::exactly(0);
  for (const auto& [order, moment] : {std::pair{setting_.left_order, left_moment_}, std::pair{setting_.right_order, right_moment_}}) {
    const double distance = std::abs(order - c) * window.lo * (1 - 1e-12);
    if (!(order > 0 && distance > 0)) return {0, infinity};
    copies = copies + exp(Interval::exactly(moment) - Interval::exactly(order) * strike - distance -
                          log1mexp(Interval::exactly(-distance)) - 1.0 - log(Interval::exactly(order)));
  }
  if (!(scale.hi < infinity && error < infinity && copies.hi < infinity)) return {0, infinity};
  const Interval folded = scale * (Interval::exactly(sum) + Interval{-error, error});
  return {std::max(0.0, (folded - copies).lo), std::max(0.0, folded.hi)};
}

}  // namespace tradeoff::detail::allocation
